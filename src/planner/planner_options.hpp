#pragma once

#include "duckdb/common/typedefs.hpp"
#include "planner/worker_functions.hpp"
#include "skein/task_estimator.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace skein {

class FooterCache;
class RemoteFiles;

enum class Mode : uint8_t { OFF, AUTO, FORCE };
//! Whether tasks that have run dry take units of others: AUTO where there is something to gain.
enum class WorkStealing : uint8_t { OFF, AUTO, FORCE };
enum class JoinStrategy : uint8_t { AUTO, BROADCAST, SHUFFLE };

//! What the planner has to know beside the plan; taken from the session's settings and the cluster.
struct PlannerOptions {
	Mode mode = Mode::AUTO;
	JoinStrategy join = JoinStrategy::AUTO;
	//! Tasks that a stage may have at most.
	duckdb::idx_t max_tasks = 1;
	duckdb::idx_t bytes_per_task = duckdb::idx_t(64) << 20;
	//! The largest build side that JoinStrategy::AUTO sends to every task.
	duckdb::idx_t broadcast_limit = duckdb::idx_t(64) << 20;
	//! A leaf of so many bytes at most is rather read by every task than read by one and broadcast.
	duckdb::idx_t replicate_limit = duckdb::idx_t(1) << 20;
	//! Finds out what the workers can call; asked when the first function is met, as it takes a while.
	std::function<std::shared_ptr<const WorkerFunctions>()> worker_functions;
	//! Whether rows that only the session can read are dealt to the tasks just to have them there.
	bool deal_session_rows = false;
	//! DuckDB's preserve_insertion_order.
	bool preserve_order = true;
	//! The user's own, asked in order before the built-in one.
	std::vector<std::shared_ptr<const TaskEstimator>> estimators;
	//! Those that an estimator can choose from.
	std::vector<WorkerInfo> workers;
	//! Keeps what is read of files for later queries; shared by all queries of the instance. nullptr: nothing is kept.
	std::shared_ptr<FooterCache> footers;
	//! Of this query; nullptr: tasks read no files of other machines.
	std::shared_ptr<RemoteFiles> remote_files;
	WorkStealing work_stealing = WorkStealing::AUTO;
};

} // namespace skein
