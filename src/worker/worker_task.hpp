#pragma once

#include "duckdb.hpp"
#include "engine/operator_metrics.hpp"
#include "engine/remote_files.hpp"
#include "engine/task_units.hpp"
#include "exchange/task_channels.hpp"
#include "plan/task_key.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace duckdb {
struct ProducerToken;
} // namespace duckdb

namespace skein {

class ReadBytes;
class TaskWatcher;

//! What a worker is told about a task.
struct TaskSpec {
	TaskKey key;
	//! A plan as SerializePlan() wrote it, with an exchange sink on top.
	std::string plan;
	//! Session settings to make before the plan is read, by name.
	std::vector<std::pair<std::string, std::string>> settings;
	//! For its files of other machines.
	RemoteAccess remote_access;
	//! The result says what each operator did.
	bool profile = false;
	//! The address of the worker that runs it, as the coordinator knows it.
	std::string worker;
	//! nullptr: its leaves keep their units.
	duckdb::shared_ptr<TaskUnits> units;
};

//! How a task ended.
struct TaskResult {
	bool failed = false;
	//! The failure follows from another task's or from a cancellation.
	bool consequence = false;
	duckdb::ErrorData error;
	//! Since the plan arrived, and how much of it had gone by when the task began.
	std::chrono::microseconds wall{0};
	std::chrono::microseconds queue{0};
	//! If it is profiled: by pre-order of its plan, and what it read from files.
	std::vector<OperatorMetrics> operators;
	uint64_t bytes_read = 0;
	//! If it is profiled: processor time of all its threads.
	std::chrono::microseconds cpu{0};
	//! If it is profiled: the most that the instance held while it ran, of memory and in temporary files.
	uint64_t peak_memory_bytes = 0;
	uint64_t peak_temp_bytes = 0;
};

//! Runs one task in a connection of its own, on DuckDB's threads only.
//!
//! Shared by its query and the watcher. Life: Launch() hands the start to DuckDB's scheduler; every time one of the
//! task's pipelines ends or fails the watcher is signalled and calls Check(), which ends the task when it is done.
//! `on_end` is called exactly once, on the watcher's thread, when nothing of the task runs any more.
//! Errors: none are thrown; all end in the TaskResult, and in the task's outputs as an abort.
class WorkerTask : public std::enable_shared_from_this<WorkerTask> {
public:
	using OnEnd = std::function<void(const TaskResult &)>;

	WorkerTask(duckdb::DatabaseInstance &db, TaskWatcher &watcher, TaskSpec spec,
			   duckdb::shared_ptr<TaskChannels> channels, OnEnd on_end);
	~WorkerTask();

	void Launch(duckdb::ProducerToken &token);
	//! Ends the task as soon as possible. Idempotent, thread-safe.
	void Cancel();

	//! For the watcher.
	void Check();

private:
	class StartTask;
	class Observer;

	//! On a thread of DuckDB's scheduler.
	void Start();
	void Prepare();
	void MakeSetting(const std::string &name, const std::string &value);
	void End(TaskResult result);
	void TakeProfile(TaskResult &result);

	duckdb::DatabaseInstance &db_;
	TaskWatcher &watcher_;
	TaskSpec spec_;
	const duckdb::shared_ptr<TaskChannels> channels_;
	OnEnd on_end_;
	const std::chrono::steady_clock::time_point arrived_at_;

	std::atomic<bool> cancelled_{false};
	//! A pipeline is unwinding: its error will be there at once.
	std::atomic<bool> error_expected_{false};
	//! Written by Start() before it signals the watcher; from then on used by the watcher's thread only.
	std::atomic<bool> started_{false};
	//! Of all threads, as far as it is profiled.
	std::atomic<int64_t> cpu_nanos_{0};
	//! From files; nullptr if it is not profiled.
	duckdb::shared_ptr<ReadBytes> read_bytes_;
	duckdb::ErrorData start_error_;
	std::optional<std::chrono::steady_clock::time_point> began_at_;
	bool ended_ = false;
	duckdb::unique_ptr<duckdb::Connection> connection_;
	duckdb::unique_ptr<duckdb::PendingQueryResult> pending_;
};

} // namespace skein
