#pragma once

#include "duckdb/parallel/interrupt.hpp"

namespace skein {

//! The task that an InterruptState wakes; nullptr if it has ended.
//!
//! InterruptState::Callback() holds the task while it wakes it, and may be the last to let go of it: what the task
//! holds, the pipeline and the states of its operators, then ends inside. A caller under a lock of such a state holds
//! the task itself until it has let go of the lock. Reads a protected member: a change of the engine ends the build.
inline duckdb::shared_ptr<duckdb::Task> TaskOf(const duckdb::InterruptState &blocked) {
	struct Access : duckdb::InterruptState {
		static duckdb::shared_ptr<duckdb::Task> Of(const duckdb::InterruptState &state) {
			return (state.*(&Access::current_task)).lock();
		}
	};
	return Access::Of(blocked);
}

} // namespace skein
