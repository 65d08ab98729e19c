#pragma once

#include "coordinator/attempt.hpp"
#include "coordinator/run_options.hpp"
#include "coordinator/unit_broker.hpp"
#include "duckdb.hpp"
#include "exchange/messages.hpp"
#include "exchange/node.hpp"
#include "exchange/task_channels.hpp"
#include "metrics/task_report.hpp"
#include "plan/distributed_plan.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <optional>
#include <set>

namespace skein {

//! What a query cost, as far as its workers have reported.
struct QueryStats {
	//! When the execution began.
	std::chrono::steady_clock::time_point started_at;
	uint64_t bytes_exchanged = 0;
	uint64_t rows_exchanged = 0;
	//! Of the present attempt, in the order in which they ended.
	std::vector<TaskReport> tasks;
	//! Of the stages that run in the session, which have no worker.
	std::vector<TaskReport> session_stages;
};

//! One execution of a distributed plan: sends the tasks, lets the head read, collects how they end, and ends them all.
//!
//! Shared by the session and the coordinator. Thread-safe. Life: made, Start(), read, Finish().
//! Errors: the first that is not a consequence of another wins; it ends the head's inputs and everything on the
//! workers. Nothing throws but Start(), for malformed addresses.
//! A lost worker is no error with Retry::QUERY, if nothing has been read by the head and what the session gave to the
//! tasks can be given again: then another attempt begins on the other workers, and what was left of the old one ends.
class QueryRun : public std::enable_shared_from_this<QueryRun> {
public:
	//! `on_finish` is called once, from Finish().
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
	//! How often the tasks were started again.
	uint32_t Retries();
	bool HasFailed();
	//! Neither failed nor finished.
	bool IsRunning();

	// Called by Coordinator.
	void OnTasksStarted(const std::string &worker, const wire::TasksStarted &started);
	void OnTaskEnded(const std::string &worker, const wire::TaskEnded &ended);
	void OnUnitsWanted(const wire::WantUnits &want);
	void OnUnitsReleased(const wire::UnitsReleased &released);
	void OnQueryEnded(const std::string &worker, const wire::QueryEnded &ended);
	//! `was_open`: the worker had answered before.
	void OnWorkerLost(const std::string &worker, const std::string &reason, bool was_open);

private:
	//! An output of a stage that runs in the session, as the present attempt reads it.
	struct SessionOutput {
		uint32_t stage;
		uint32_t output;
		std::shared_ptr<OutputBuffer> buffer;
	};

	void MakeSessionStages();
	//! Sends the tasks of the present attempt.
	void Launch(const Attempt &attempt);
	//! A worker of the present attempt is lost: runs the tasks elsewhere, or fails.
	void Lose(const std::string &worker, const duckdb::ErrorData &error);
	//! Begins a next attempt without the lost workers; returns what stands in the way, or nothing.
	std::string StartAgain();
	//! The head has read something: no attempt follows this one.
	void StopKeeping();
	//! Ends, on their workers, the attempts of which something is left; only up to `last` if it is given.
	void EndOnWorkers(std::optional<uint32_t> last = std::nullopt);
	void DropAttempts();
	//! Lets the broker decide, under the lock, and sends what it has decided.
	void MoveUnits(const wire::LeafId &leaf, const std::function<UnitBroker::Orders()> &decide);

	Node &node_;
	duckdb::DatabaseInstance &db_;
	const std::shared_ptr<const DistributedPlan> plan_;
	const std::string id_;
	const RunOptions options_;
	const std::function<void()> on_finish_;
	const std::chrono::steady_clock::time_point started_at_ = std::chrono::steady_clock::now();
	const std::shared_ptr<RunProgress> progress_ = std::make_shared<RunProgress>();
	std::vector<std::shared_ptr<ExchangeInput>> head_inputs_;
	std::map<uint32_t, duckdb::shared_ptr<TaskChannels>> session_channels_;

	std::mutex mutex_;
	std::condition_variable ended_;
	Attempt attempt_;
	UnitBroker units_;
	std::vector<SessionOutput> session_outputs_;
	//! Attempt and worker of which something may be left.
	std::set<std::pair<uint32_t, std::string>> running_;
	std::set<std::string> lost_workers_;
	//! The latest loss.
	duckdb::ErrorData loss_;
	//! A thread is in Lose(), and looks again when it is done.
	bool restarting_ = false;
	bool lost_again_ = false;
	uint32_t tasks_left_;
	//! By stage, of the present attempt; and the stages of which all have.
	std::map<uint32_t, std::set<uint32_t>> started_tasks_;
	std::set<uint32_t> started_stages_;
	//! Those that hear of started stages.
	std::set<std::string> workers_with_slots_;
	bool failed_ = false;
	bool finished_ = false;
	//! The first error that follows from another; counts only if that other one never comes.
	duckdb::ErrorData consequence_;
	QueryStats stats_;
};

} // namespace skein
