#pragma once

#include "duckdb.hpp"
#include "exchange/messages.hpp"
#include "exchange/node.hpp"
#include "exchange/task_channels.hpp"
#include "metrics/task_report.hpp"
#include "plan/distributed_plan.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <set>

namespace skein {

//! What a query cost, as far as its workers have reported.
struct QueryStats {
	uint64_t bytes_exchanged = 0;
	uint64_t rows_exchanged = 0;
	std::vector<TaskReport> tasks;
};

struct RunOptions {
	uint64_t page_bytes = uint64_t(1) << 20;
	uint64_t buffer_bytes = uint64_t(256) << 20;
};

//! One execution of a distributed plan: sends the tasks, lets the head read, collects how they end, and ends them all.
//!
//! Shared by the session and the coordinator. Thread-safe. Life: made, Start(), read, Finish().
//! Errors: the first that is not a consequence of another wins; it ends the head's inputs and everything on the
//! workers. Nothing throws but Start(), for malformed addresses.
class QueryRun : public std::enable_shared_from_this<QueryRun> {
public:
	//! Task i of stage s runs on workers[(i + s) % workers.size()]. `on_finish` is called once, from Finish().
	QueryRun(Node &node, duckdb::DatabaseInstance &db, std::shared_ptr<const DistributedPlan> plan, std::string id,
			 std::vector<std::string> workers, RunOptions options, std::function<void()> on_finish);

	const std::string &Id() const {
		return id_;
	}
	void Start();
	std::shared_ptr<ExchangeInput> HeadInput(duckdb::idx_t input) const {
		return head_inputs_[input];
	}
	//! Where a stage in the session puts its rows.
	duckdb::shared_ptr<TaskChannels> SessionChannels(uint32_t stage) const {
		return session_channels_.at(stage);
	}
	//! Ends the query with an error: its head fails, its tasks are cancelled.
	void Fail(const duckdb::ErrorData &error);
	//! The head needs nothing more: everything that is left of the query on any worker ends. Idempotent.
	void Finish();
	//! Waits until all workers have said that nothing is left of the query; false if they have not by then.
	bool WaitEnded(std::chrono::milliseconds timeout);
	//! Waits until every task has said how it ended; false if not all have by then.
	bool WaitTasks(std::chrono::milliseconds timeout);
	QueryStats Stats();

	// Called by Coordinator.
	void OnTaskEnded(const std::string &worker, const wire::TaskEnded &ended);
	void OnQueryEnded(const std::string &worker);
	//! `was_open`: the worker had answered before.
	void OnWorkerLost(const std::string &worker, const std::string &reason, bool was_open);

private:
	std::string WorkerOf(uint32_t stage, uint32_t task) const;
	void MakeSessionStages();
	wire::Message StartMessage(const std::string &worker) const;
	void EndOnWorkers();

	Node &node_;
	duckdb::DatabaseInstance &db_;
	const std::shared_ptr<const DistributedPlan> plan_;
	const std::string id_;
	const std::vector<std::string> workers_;
	const RunOptions options_;
	const std::function<void()> on_finish_;
	std::vector<std::shared_ptr<ExchangeInput>> head_inputs_;
	std::map<uint32_t, duckdb::shared_ptr<TaskChannels>> session_channels_;
	//! Those that have tasks.
	std::set<std::string> used_workers_;

	std::mutex mutex_;
	std::condition_variable ended_;
	std::set<std::string> running_workers_;
	uint32_t tasks_left_;
	bool failed_ = false;
	bool finished_ = false;
	//! The first error that follows from another; counts only if that other one never comes.
	duckdb::ErrorData consequence_;
	QueryStats stats_;
};

} // namespace skein
