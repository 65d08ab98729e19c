#pragma once

#include "engine/blocked_task.hpp"

#include "duckdb/execution/physical_operator_states.hpp"

#include <mutex>
#include <vector>

namespace skein {

//! Wakes the tasks of a source that wait for something. Shared with whoever provides it and may use the waker after
//! the source's end.
class SourceWaker {
public:
	explicit SourceWaker(duckdb::GlobalSourceState &source) : source_(source) {
	}
	//! Registers the calling task unless `is_ready`, which is asked under the lock that Wake() takes: what arrives
	//! after this question wakes the task. Whether the source is to return `result`.
	template <class IS_READY>
	bool Block(IS_READY is_ready, const duckdb::InterruptState &task, duckdb::SourceResultType &result) {
		std::lock_guard<std::mutex> guard(mutex_);
		if (is_ready()) {
			return false;
		}
		auto source_guard = source_.Lock();
		result = source_.BlockSource(source_guard, task);
		if (result == duckdb::SourceResultType::BLOCKED) {
			blocked_.push_back(task);
		}
		return true;
	}
	void Wake();

private:
	//! Only to be used while one of its tasks lives.
	duckdb::GlobalSourceState &source_;
	std::mutex mutex_;
	//! Those that the source's state knows too, which wakes them when the pipeline ends early.
	std::vector<duckdb::InterruptState> blocked_;
};

} // namespace skein
