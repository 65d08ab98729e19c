#pragma once

#include "engine/unit_supply.hpp"

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context_state.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace skein {

//! Units on their way from one task to another: a slice of them as the function that reads it writes its bind data.
struct Parcel {
	uint64_t units = 0;
	std::string slice;
};

//! How the tasks of a query give units to one another.
struct SharingOptions {
	//! Also where there is hardly anything to gain.
	bool always = false;
	//! Not at all; for tests, which have unit_delay then.
	bool never = false;
	//! So long each unit of this task takes longer than it would; for tests.
	std::chrono::microseconds unit_delay{0};
};

//! How long a task takes for a unit of a leaf; nothing as long as it has not read any.
using UnitPace = std::optional<std::chrono::microseconds>;

//! What became of the units of a leaf, or of all leaves of a task.
struct UnitCounts {
	uint64_t read = 0;
	//! From other tasks, and by them.
	uint64_t taken = 0;
	uint64_t given = 0;
};

//! The units of one leaf of a task: some may leave for other tasks, and when all are read or gone others' may come.
//!
//! Shared by the scan of the leaf, whose threads read, and the worker, whose transport threads release and give.
//! Thread-safe. Asks for units once its own are all begun, and waits for the answer, however long that takes: what is
//! on its way to a task that had stopped waiting would be read by nobody. That an answer comes is the link's promise,
//! which notices a peer that is gone and ends the query.
class LeafUnits {
public:
	//! `most_of_others`: how many units the task that was dealt most of the other tasks was dealt. `ask` asks whoever
	//! runs the query for units, and says how fast this task reads; one Give() follows.
	LeafUnits(SharingOptions options, uint64_t most_of_others, std::function<void(UnitPace)> ask);

	//! The scan has a slice to read, its first or what Take() returned. Both arguments must live until the next call or
	//! Close(). Returns the slice's units, which its readers claim.
	std::shared_ptr<UnitSupply> SetSlice(const duckdb::TableFunction &function, duckdb::FunctionData &bind_data);
	//! The scan has begun. `on_news` is called, without locks, when an answer has come.
	void Begin(std::function<void()> on_news);
	//! To be called now and then, without locks: asks for more when every unit of the present slice has been begun, if
	//! the others can have units that take some time: they were dealt more than one, and as fast as this task has read
	//! its own, or because it has read none, they are not yet done with as many as they were dealt.
	//! `supply`: of the slice that the caller reads, of which there is nothing left to begin if it is `dry`.
	void AskIfEmpty(UnitSupply &supply, bool dry);
	//! Whether the scan has to wait for an answer.
	bool IsWaiting();
	//! Whether nothing more comes.
	bool HasEnded();
	//! What has come, once; SetSlice() follows.
	std::optional<Parcel> Take();
	//! The scan has ended: nothing leaves and nothing is wanted any more.
	void Close();

	//! For the worker. Takes units away for a task of this pace, if at least `at_least` are left, and if that is worth
	//! it; `left`: how many are there afterwards, 0 if they are not worth it.
	Parcel Release(uint64_t at_least, UnitPace taker, uint64_t &left);
	//! The answer to a question; without units: nobody has any.
	void Give(Parcel parcel);
	UnitCounts Counts();
	const SharingOptions &Options() const {
		return options_;
	}

private:
	using Clock = std::chrono::steady_clock;
	enum class State {
		//! Of units that are there.
		READING,
		ASKED,
		//! There is a parcel.
		ARRIVED,
		//! It was taken and is no slice yet.
		TAKEN,
		ENDED
	};

	//! A unit of the slice is going to be read.
	void OnBegin(UnitSupply &supply);
	//! As long as a unit is to take longer.
	void Delay();
	//! Whether as many units as the others were dealt take some time, as far as that can be told. `dry`: all units that
	//! were begun are read.
	bool IsWorthAskingLocked(bool dry);
	//! Whether what is left of the slice is going to take some time, as far as that can be told.
	bool IsWorthReleasingLocked();
	//! Units that turned out to have rows, of all slices.
	uint64_t ReadLocked();
	UnitPace PaceLocked();

	const SharingOptions options_;
	const uint64_t most_of_others_;
	const std::function<void(UnitPace)> ask_;
	std::mutex mutex_;
	std::condition_variable closed_;
	State state_ = State::READING;
	std::optional<Clock::time_point> began_at_;
	duckdb::optional_ptr<const duckdb::TableFunction> function_;
	duckdb::optional_ptr<duckdb::FunctionData> slice_;
	//! Of the present slice; not reset.
	std::shared_ptr<UnitSupply> supply_;
	Parcel parcel_;
	std::function<void()> on_news_;
	//! Without those of the present slice that were read.
	UnitCounts counts_;
	uint64_t read_before_ = 0;
};

//! The leaves of one task that may give units to other tasks and get some; attached to the task's connection before it
//! is planned. Thread-safe.
class TaskUnits final : public duckdb::ClientContextState {
public:
	static constexpr const char *KEY = "skein_task_units";

	//! `most_of_others`, by the number of the leaf, and `ask` are LeafUnits'.
	TaskUnits(SharingOptions options, std::vector<uint64_t> most_of_others,
			  std::function<void(uint64_t leaf, UnitPace)> ask);

	//! Those of the task that runs in `context`; nullptr if its leaves keep their units.
	static duckdb::shared_ptr<TaskUnits> Find(duckdb::ClientContext &context);

	//! The leaf of this number in the stage, of which the task's plan has this slice; see LeafUnits::SetSlice().
	std::shared_ptr<LeafUnits> Open(uint64_t leaf, const duckdb::TableFunction &function,
									duckdb::FunctionData &bind_data);
	//! The task's plan is there, with all leaves that it has, or it gets none. Idempotent.
	void Complete();
	//! nullptr if the task has no such leaf, or not yet.
	std::shared_ptr<LeafUnits> Leaf(uint64_t leaf);
	//! Calls `use` with the leaf, without locks: now, or once it is known whether the task has it. nullptr: it has not.
	void WithLeaf(uint64_t leaf, std::function<void(LeafUnits *)> use);
	//! Of all leaves; nothing if there are none.
	std::optional<UnitCounts> Counts();

private:
	const SharingOptions options_;
	const std::vector<uint64_t> most_of_others_;
	const std::function<void(uint64_t, UnitPace)> ask_;
	std::mutex mutex_;
	std::map<uint64_t, std::shared_ptr<LeafUnits>> leaves_;
	bool complete_ = false;
	//! By leaf, who waits for it.
	std::multimap<uint64_t, std::function<void(LeafUnits *)>> waiting_;
};

} // namespace skein
