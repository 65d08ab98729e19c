#include "extension/session.hpp"

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/prepared_statement_data.hpp"
#include "extension/trace_exporter.hpp"

namespace skein {

using namespace duckdb;

PlanReport LastQuery::Report() const {
	QueryStats stats;
	uint32_t retries = 0;
	if (run) {
		stats = run->Stats();
		retries = run->Retries();
	}
	for (auto &metered : session_tasks) {
		auto stage = std::find_if(stats.session_stages.begin(), stats.session_stages.end(),
								  [&](auto &it) { return it.stage == metered.stage; });
		if (stage == stats.session_stages.end()) {
			stats.session_stages.push_back(metered);
		} else {
			stage->operators = metered.operators;
		}
	}
	auto report = ReportOf(*plan, stats.tasks, stats.session_stages);
	report.retries = retries;
	return report;
}

duckdb::shared_ptr<Session> Session::Get(ClientContext &context) {
	return context.registered_state->GetOrCreate<Session>(KEY);
}

void Session::SetPlanned(LastQuery query) {
	std::lock_guard<std::mutex> guard(mutex_);
	last_ = std::move(query);
	current_ = true;
	meters_.clear();
}

PlanMeter &Session::Meter(uint32_t stage) {
	std::lock_guard<std::mutex> guard(mutex_);
	return meters_[stage];
}

void Session::CollectMeters(ClientContext &context) {
	std::lock_guard<std::mutex> guard(mutex_);
	last_.session_tasks.clear();
	for (auto &[stage, meter] : meters_) {
		TaskReport report;
		report.stage = stage;
		report.operators = meter.Collect(context);
		last_.session_tasks.push_back(std::move(report));
	}
}

LastQuery Session::Last() {
	std::lock_guard<std::mutex> guard(mutex_);
	return last_;
}

std::shared_ptr<QueryRun> Session::RunFor(const std::shared_ptr<const DistributedPlan> &plan,
										  const std::function<std::shared_ptr<QueryRun>()> &start) {
	std::lock_guard<std::mutex> guard(mutex_);
	for (auto &execution : executions_) {
		if (execution.plan == plan) {
			return execution.run;
		}
	}
	auto run = start();
	executions_.push_back({plan, run});
	last_.run = run;
	return run;
}

namespace {

bool ReadsStages(const PhysicalOperator &op) {
	if (dynamic_cast<const PhysicalExchangeSource *>(&op)) {
		return true;
	}
	for (auto &child : op.children) {
		if (ReadsStages(child.get())) {
			return true;
		}
	}
	return false;
}

} // namespace

RebindQueryInfo Session::OnExecutePrepared(ClientContext &context, PreparedStatementCallbackInfo &info,
										   RebindQueryInfo current_rebind) {
	auto &plan = info.prepared_statement.physical_plan;
	return plan && ReadsStages(plan->Root()) ? RebindQueryInfo::ATTEMPT_TO_REBIND : current_rebind;
}

void Session::QueryEnd(ClientContext &context, optional_ptr<ErrorData> error) {
	std::vector<Execution> ended;
	std::optional<EndedQuery> traced;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ended.swap(executions_);
		if (current_) {
			std::chrono::duration<double, std::milli> total = std::chrono::steady_clock::now() - last_.started_at;
			last_.total_ms = total.count();
			current_ = false;
			// A plan that was only explained has not run.
			if (last_.trace.exporter && (last_.run || !last_.distributed)) {
				traced = EndedQuery{last_, std::chrono::steady_clock::now(), error ? error->Message() : string()};
			}
		}
	}
	for (auto &execution : ended) {
		execution.run->Finish();
	}
	if (traced) {
		auto exporter = traced->query.trace.exporter;
		exporter->Export(std::move(*traced));
	}
}

SessionBinding::SessionBinding(Coordinator &coordinator, std::shared_ptr<const DistributedPlan> plan,
							   std::vector<string> workers, RunOptions options, std::chrono::milliseconds timeout)
	: coordinator_(coordinator), plan_(std::move(plan)), workers_(std::move(workers)), options_(options),
	  timeout_(timeout) {
}

std::shared_ptr<QueryRun> SessionBinding::Run(ClientContext &context) {
	return Session::Get(context)->RunFor(
		plan_, [&]() { return coordinator_.Run(context, plan_, workers_, options_, timeout_); });
}

std::shared_ptr<ExchangeInput> SessionBinding::HeadInput(ClientContext &context, idx_t input) {
	return Run(context)->HeadInput(input);
}

duckdb::shared_ptr<TaskChannels> SessionBinding::SessionChannels(ClientContext &context, uint32_t stage) {
	return Run(context)->SessionChannels(stage);
}

optional_ptr<PlanMeter> SessionBinding::SessionMeter(ClientContext &context, uint32_t stage) {
	return options_.profile ? &Session::Get(context)->Meter(stage) : nullptr;
}

} // namespace skein
