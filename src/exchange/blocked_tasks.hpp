#pragma once

#include "duckdb/parallel/interrupt.hpp"

#include <mutex>
#include <vector>

namespace skein {

//! Tasks of DuckDB that wait in the sink of an exchange until there is room.
//!
//! In place of StateWithBlockableTasks, of which a sink cannot make use: when a pipeline ends early, the engine forbids
//! its sink to block from then on, also for the other pipelines of a UNION ALL, which still have rows.
//! Shared by the sink's state and the waker that it registers, which may outlive it. Thread-safe.
class BlockedTasks {
public:
	//! Registers the calling task unless `is_ready`, which is asked under a lock that WakeAll() takes too: what happens
	//! after this question wakes the task. Whether it was registered, and is to return BLOCKED.
	template <class IS_READY>
	bool AddUnless(IS_READY is_ready, const duckdb::InterruptState &task) {
		std::lock_guard<std::mutex> guard(mutex_);
		if (is_ready()) {
			return false;
		}
		tasks_.push_back(task);
		return true;
	}
	//! Wakes all tasks. Without a lock: a task that has ended meanwhile may go with this call, and with it the state of
	//! its pipeline. The caller holds no lock that the end of a query takes.
	void WakeAll() {
		std::vector<duckdb::InterruptState> woken;
		{
			std::lock_guard<std::mutex> guard(mutex_);
			woken.swap(tasks_);
		}
		for (auto &task : woken) {
			task.Callback();
		}
	}

private:
	std::mutex mutex_;
	std::vector<duckdb::InterruptState> tasks_;
};

} // namespace skein
