#pragma once

#include "plan/task_key.hpp"

#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace skein {

//! A task that waits for its start.
struct WaitingTask {
	AttemptKey query;
	uint32_t stage = 0;
	uint32_t task = 0;
	//! The stages that it reads; without those that need no start.
	std::set<uint32_t> inputs;
	std::function<void()> start;
};

//! Decides when the tasks of a worker start, so that at most `slots` of them run.
//!
//! A task starts when there is a slot and all tasks of all stages that it reads have started, on whatever worker; among
//! those the first that came. So a task that holds a slot never waits for one that has none: what it reads is running
//! or done, down to tasks that read files, and these run to their end because the outputs of a worker with slots are
//! never full. By induction every running task ends, and every waiting one starts.
//!
//! Thread-safe. Starts are made, and `on_started` is called, without a lock, by whoever made them possible.
class Admission {
public:
	using OnStarted = std::function<void(const std::vector<WaitingTask> &)>;

	//! 0 slots: no limit, every task starts at once.
	Admission(size_t slots, OnStarted on_started);

	size_t Slots() const {
		return slots_;
	}
	//! In the order of their stages.
	void Add(std::vector<WaitingTask> tasks);
	//! All tasks of these stages have started.
	void StagesStarted(const AttemptKey &query, const std::vector<uint32_t> &stages);
	//! A task that had started has ended.
	void TaskEnded();
	//! The query ends: starts what waits of it whatever the slots, for cancelled tasks end by starting. No more of it
	//! may be added.
	void Release(const AttemptKey &query);
	//! Nothing is left of the query.
	void Forget(const AttemptKey &query);

	size_t Running();
	size_t Waiting();
	//! The stages and tasks of a query that wait.
	std::set<std::pair<uint32_t, uint32_t>> WaitingOf(const AttemptKey &query);

private:
	bool MayStartLocked(const WaitingTask &task);
	//! Takes from the waiting ones those that start now.
	std::vector<WaitingTask> AdmitLocked();
	void Start(const std::vector<WaitingTask> &tasks);

	const size_t slots_;
	const OnStarted on_started_;
	std::mutex mutex_;
	std::list<WaitingTask> waiting_;
	std::map<AttemptKey, std::set<uint32_t>> started_stages_;
	size_t running_ = 0;
};

} // namespace skein
