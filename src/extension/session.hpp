#pragma once

#include "coordinator/coordinator.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "engine/plan_meter.hpp"
#include "explain/plan_report.hpp"
#include "planner/head_source.hpp"

#include <chrono>

namespace skein {

class TraceExporter;

//! Whether a query is traced, and as a part of what.
struct TraceTarget {
	//! Not set: it is not.
	std::shared_ptr<TraceExporter> exporter;
	std::string endpoint;
	//! As in the header `traceparent` of W3C; empty if it is a trace of its own.
	std::string parent;
};

//! What is known of the last query of a session.
struct LastQuery {
	bool distributed = false;
	std::string reason;
	std::shared_ptr<const DistributedPlan> plan;
	size_t workers = 0;
	double planning_ms = 0;
	double total_ms = 0;
	std::shared_ptr<QueryRun> run;
	//! What the operators of the session did, if it was asked for: of the head, as stage 0, and of stages in the
	//! session.
	std::vector<TaskReport> session_tasks;
	std::chrono::steady_clock::time_point started_at;
	//! Its text; only if it is traced.
	std::string sql;
	TraceTarget trace;

	//! The plan with what is known of its tasks; only of a distributed query.
	PlanReport Report() const;
};

//! What Skein keeps for one connection: the executions of its running query, and what is known of the last one.
//!
//! Owned by the connection. Thread-safe.
class Session final : public duckdb::ClientContextState {
public:
	static constexpr const char *KEY = "skein_session";
	static duckdb::shared_ptr<Session> Get(duckdb::ClientContext &context);

	//! Remembers how a query was planned.
	void SetPlanned(LastQuery query);
	LastQuery Last();
	//! What watches the operators of a stage in the session, of the head if it is stage 0, in the query that runs now.
	PlanMeter &Meter(uint32_t stage);
	//! Reads the meters, for Last().
	void CollectMeters(duckdb::ClientContext &context);
	//! The execution of `plan` in the query that runs now; starts it if there is none yet.
	std::shared_ptr<QueryRun> RunFor(const std::shared_ptr<const DistributedPlan> &plan,
									 const std::function<std::shared_ptr<QueryRun>()> &start);

	//! A prepared statement whose plan names row groups of files is planned again: the files may have changed since.
	duckdb::RebindQueryInfo OnExecutePrepared(duckdb::ClientContext &context,
											  duckdb::PreparedStatementCallbackInfo &info,
											  duckdb::RebindQueryInfo current_rebind) override;
	void QueryEnd(duckdb::ClientContext &context, duckdb::optional_ptr<duckdb::ErrorData> error) override;

private:
	struct Execution {
		std::shared_ptr<const DistributedPlan> plan;
		std::shared_ptr<QueryRun> run;
	};

	std::mutex mutex_;
	LastQuery last_;
	//! The last query is the one that runs now.
	bool current_ = false;
	std::vector<Execution> executions_;
	std::map<uint32_t, PlanMeter> meters_;
};

//! Binds the head's operators to the execution of the query that runs in a connection.
class SessionBinding final : public QueryBinding {
public:
	SessionBinding(Coordinator &coordinator, std::shared_ptr<const DistributedPlan> plan,
				   std::vector<std::string> workers, RunOptions options, std::chrono::milliseconds timeout);

	std::shared_ptr<ExchangeInput> HeadInput(duckdb::ClientContext &context, duckdb::idx_t input) override;
	duckdb::shared_ptr<TaskChannels> SessionChannels(duckdb::ClientContext &context, uint32_t stage) override;
	duckdb::optional_ptr<PlanMeter> SessionMeter(duckdb::ClientContext &context, uint32_t stage) override;

private:
	std::shared_ptr<QueryRun> Run(duckdb::ClientContext &context);

	Coordinator &coordinator_;
	const std::shared_ptr<const DistributedPlan> plan_;
	const std::vector<std::string> workers_;
	const RunOptions options_;
	const std::chrono::milliseconds timeout_;
};

} // namespace skein
