#pragma once

#include "duckdb/execution/executor.hpp"

#include <atomic>

namespace skein {

namespace executor_tasks_access {

//! Explicit instantiation may name a private member ([temp.spec.general]): a change of the engine ends the build.
template <class MEMBER, MEMBER Member>
struct Expose {
	friend MEMBER ExecutorTasks() {
		return Member;
	}
};
using Member = std::atomic<duckdb::idx_t> duckdb::Executor::*;
Member ExecutorTasks();
template struct Expose<Member, &duckdb::Executor::executor_tasks>;

} // namespace executor_tasks_access

//! Whether a thread still holds one of the executor's tasks, which may have run to its end. Thread-safe.
inline bool HoldsTasks(const duckdb::Executor &executor) {
	return (executor.*executor_tasks_access::ExecutorTasks()) > 0;
}

} // namespace skein
