#pragma once

#include "engine/task_units.hpp"
#include "plan/distributed_plan.hpp"

#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace skein {

//! Decides which task gives units of a leaf to which other task.
//!
//! Knows of each task how many units it can have left at most: what it was dealt, until it says how many there are. A
//! task that wants some gets them of the one that has most: tasks are asked, the most promising first, to release some
//! if they have at least as many as the next best can have. So a task without units is asked once. Tasks of a leaf are
//! served one after the other.
//!
//! A value of one attempt of a query; messages are sent by whoever owns it. Every OnWanted() leads to one Give, with
//! the units of one release or with none.
class UnitBroker {
public:
	struct Leaf {
		uint32_t stage = 0;
		uint64_t leaf = 0;

		auto operator<=>(const Leaf &) const = default;
	};
	//! Units to be released by a task.
	struct Release {
		Leaf leaf;
		uint32_t task = 0;
		uint64_t at_least = 1;
		//! Of the task that wants them.
		UnitPace pace;
	};
	//! Units, or the news that there are none, for a task that wanted some.
	struct Give {
		Leaf leaf;
		uint32_t task = 0;
		Parcel parcel;
	};
	//! What is to be sent.
	struct Orders {
		std::vector<Release> releases;
		std::vector<Give> gives;
	};

	explicit UnitBroker(const DistributedPlan &plan);

	Orders OnWanted(const Leaf &leaf, uint32_t task, UnitPace pace = {});
	//! The answer to a Release.
	Orders OnReleased(const Leaf &leaf, uint32_t task, uint64_t left, Parcel parcel);
	void OnTaskEnded(uint32_t stage, uint32_t task);

private:
	struct Taker {
		uint32_t task = 0;
		UnitPace pace;
	};
	struct LeafState {
		//! By task, how many units that nobody has begun it can have.
		std::vector<uint64_t> most_left;
		std::deque<Taker> waiting;
		std::optional<uint32_t> asked;
	};

	//! Goes on with the first that waits.
	void Serve(const Leaf &leaf, LeafState &state, Orders &orders);

	std::map<Leaf, LeafState> leaves_;
};

} // namespace skein
