#pragma once

#include "engine/blocked_task.hpp"

#include "duckdb/execution/physical_operator_states.hpp"

#include <functional>
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
	bool Block(std::function<bool()> is_ready, const duckdb::InterruptState &task, duckdb::SourceResultType &result);
	//! To be called when something has changed: wakes all tasks if one of them is ready now. `is_ready` is asked as
	//! long as its task is blocked.
	void Wake();

private:
	struct Blocked {
		duckdb::InterruptState task;
		std::function<bool()> is_ready;
	};

	//! Only to be used while one of its tasks lives.
	duckdb::GlobalSourceState &source_;
	std::mutex mutex_;
	//! Those that the source's state knows too, which wakes them when the pipeline ends early.
	std::vector<Blocked> blocked_;
};

} // namespace skein
