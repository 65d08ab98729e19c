#include "extension/optimizer_hook.hpp"

#include "duckdb/planner/expression/bound_window_expression.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/storage/buffer_manager.hpp"
#include "engine/dynamic_filters.hpp"
#include "engine/remote_files.hpp"
#include "explain/plan_outline.hpp"
#include "explain/plan_text.hpp"
#include "extension/analyze_operator.hpp"
#include "extension/explain_operator.hpp"
#include "extension/session.hpp"
#include "extension/skein_instance.hpp"
#include "planner/planner.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! For workers inside the process: below it the buffers of their exchanges do not fit beside what DuckDB needs.
constexpr idx_t LEAST_MEMORY = idx_t(16) << 20;

//! The query inside of a statement: what EXPLAIN explains, what INSERT inserts. nullptr and why not if the statement
//! has none that could run elsewhere; without a reason if it is no query at all.
unique_ptr<LogicalOperator> *FindQuery(unique_ptr<LogicalOperator> &plan, string &reason) {
	switch (plan->type) {
	case LogicalOperatorType::LOGICAL_EXPLAIN:
		return FindQuery(plan->children[0], reason);
	case LogicalOperatorType::LOGICAL_PREPARE:
	case LogicalOperatorType::LOGICAL_EXECUTE:
		// The plan is below if it is made now, and not kept from when the statement was prepared.
	case LogicalOperatorType::LOGICAL_INSERT:
	case LogicalOperatorType::LOGICAL_COPY_TO_FILE:
	case LogicalOperatorType::LOGICAL_CREATE_TABLE:
	case LogicalOperatorType::LOGICAL_UPDATE:
	case LogicalOperatorType::LOGICAL_DELETE:
	case LogicalOperatorType::LOGICAL_MERGE_INTO:
		return plan->children.empty() ? nullptr : &plan->children[0];
	case LogicalOperatorType::LOGICAL_TRANSACTION:
	case LogicalOperatorType::LOGICAL_PRAGMA:
	case LogicalOperatorType::LOGICAL_SET:
	case LogicalOperatorType::LOGICAL_RESET:
	case LogicalOperatorType::LOGICAL_ALTER:
	case LogicalOperatorType::LOGICAL_DROP:
	case LogicalOperatorType::LOGICAL_LOAD:
	case LogicalOperatorType::LOGICAL_ATTACH:
	case LogicalOperatorType::LOGICAL_DETACH:
	case LogicalOperatorType::LOGICAL_VACUUM:
	case LogicalOperatorType::LOGICAL_EXPORT:
	case LogicalOperatorType::LOGICAL_CREATE_VIEW:
	case LogicalOperatorType::LOGICAL_CREATE_SEQUENCE:
	case LogicalOperatorType::LOGICAL_CREATE_SCHEMA:
	case LogicalOperatorType::LOGICAL_CREATE_MACRO:
	case LogicalOperatorType::LOGICAL_CREATE_TYPE:
	case LogicalOperatorType::LOGICAL_CREATE_INDEX:
	case LogicalOperatorType::LOGICAL_CREATE_SECRET:
	case LogicalOperatorType::LOGICAL_COPY_DATABASE:
	case LogicalOperatorType::LOGICAL_UPDATE_EXTENSIONS:
		return nullptr;
	default:
		return &plan;
	}
}

//! Whether the statement changes rows of a table that its query reads.
bool ChangesRows(const LogicalOperator &plan) {
	switch (plan.type) {
	case LogicalOperatorType::LOGICAL_EXPLAIN:
		return ChangesRows(*plan.children[0]);
	case LogicalOperatorType::LOGICAL_UPDATE:
	case LogicalOperatorType::LOGICAL_DELETE:
	case LogicalOperatorType::LOGICAL_MERGE_INTO:
		return true;
	default:
		return false;
	}
}

//! Whether the plan reads one of our own table functions, which report on other queries.
bool ReadsOwnFunction(LogicalOperator &op) {
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		auto &name = op.Cast<LogicalGet>().function.name;
		if (StringUtil::StartsWith(name, "skein_") && !StringUtil::EndsWith(name, "_slice")) {
			return true;
		}
	}
	for (auto &child : op.children) {
		if (ReadsOwnFunction(*child)) {
			return true;
		}
	}
	return false;
}

bool IsAnalyze(const LogicalOperator &statement) {
	return statement.type == LogicalOperatorType::LOGICAL_EXPLAIN &&
		   statement.Cast<LogicalExplain>().explain_type == ExplainType::EXPLAIN_ANALYZE;
}

PlannerOptions OptionsFor(ClientContext &context, const Settings &settings, idx_t workers) {
	PlannerOptions options;
	options.mode = settings.mode;
	options.join = settings.join;
	options.max_tasks = settings.max_tasks == 0 ? workers : settings.max_tasks;
	options.bytes_per_task = settings.bytes_per_task;
	options.broadcast_limit = settings.broadcast_limit;
	// Workers of one process share its threads: none is slower than another.
	auto local = settings.cluster.empty() && settings.work_stealing == WorkStealing::AUTO;
	options.work_stealing = local ? WorkStealing::OFF : settings.work_stealing;
	if (settings.work_stealing == WorkStealing::OFF && settings.unit_delays.of_slow_task.count() > 0) {
		// Only shared leaves have units that can be delayed.
		options.work_stealing = WorkStealing::FORCE;
	}
	Value preserve;
	options.preserve_order =
		!context.TryGetCurrentSetting("preserve_insertion_order", preserve) || preserve.GetValue<bool>();
	return options;
}

//! `statement`: what `query` stands in, or `query` itself.
PlanResult Distribute(OptimizerExtensionInput &input, SkeinInstance &instance, unique_ptr<LogicalOperator> &statement,
					  unique_ptr<LogicalOperator> &query, size_t &workers) {
	PlanResult result;
	auto settings = Settings::Read(input.context);
	if (settings.mode == Mode::OFF) {
		result.reason = "skein_mode is off";
		return result;
	}
	if (!instance.MayHaveWorkers(settings)) {
		result.reason = "there are no workers (skein_cluster and skein_workers are not set)";
		return result;
	}
	auto memory_limit = BufferManager::GetBufferManager(input.context).GetMaxMemory();
	if (instance.HasLocalWorkers(settings) && memory_limit < LEAST_MEMORY) {
		result.reason = "workers inside the process need a memory_limit of at least " +
						StringUtil::BytesToHumanReadableString(LEAST_MEMORY);
		return result;
	}
	auto cluster = instance.Resolve(settings);
	workers = cluster.workers.size();
	if (workers == 0) {
		result.reason = "there are no workers (the resolver finds none)";
		return result;
	}
	RunOptions run_options;
	run_options.page_bytes = settings.page_bytes;
	run_options.buffer_bytes = settings.buffer_bytes;
	run_options.retry = settings.retry;
	run_options.compression = settings.compression;
	run_options.always_share_units = settings.work_stealing == WorkStealing::FORCE;
	run_options.never_share_units = settings.work_stealing == WorkStealing::OFF;
	run_options.unit_delays = settings.unit_delays;
	run_options.profile = IsAnalyze(*statement);
	PlannerCallbacks callbacks;
	auto remote_files = std::make_shared<RemoteFiles>(input.context, [&](const string &extension) {
		return instance.ReasonAgainstExtension(cluster, settings, extension);
	});
	callbacks.bind = [&](std::shared_ptr<const DistributedPlan> plan) {
		run_options.remote_access = remote_files->Access();
		return std::make_shared<SessionBinding>(*cluster.coordinator, std::move(plan), cluster.workers, run_options,
												settings.query_timeout);
	};
	callbacks.describe = [&](const QueryDraft &draft, const LogicalOperator &head, DistributedPlan &plan) {
		plan.outline = OutlineOf(draft, head, cluster.workers.size());
		plan.text = PlanText(plan.outline);
	};
	callbacks.settings = TravellingSettings(input.context);
	auto options = OptionsFor(input.context, settings, workers);
	options.estimators = instance.Estimators();
	options.workers = cluster.described;
	options.footers = instance.Footers();
	options.remote_files = remote_files;
	options.worker_functions = [&instance]() { return instance.FunctionsOfWorkers(); };
	options.deal_session_rows = settings.mode == Mode::FORCE && !ChangesRows(*statement);
	DropMistypedDynamicFilters(*query);
	return PlanQuery(input, statement, query, options, callbacks);
}

bool IsWindowOverAllRows(const LogicalOperator &op) {
	return op.type == LogicalOperatorType::LOGICAL_WINDOW &&
		   std::any_of(op.expressions.begin(), op.expressions.end(),
					   [](auto &window) { return window->template Cast<BoundWindowExpression>().partitions.empty(); });
}

//! The first rows of all, by a window, are DuckDB's `arg_min` of the table. Of no rows that is a row of NULLs, which is
//! lost again if the other columns are read in a second scan: such a scan stays as DuckDB wants it.
void ForbidLateMaterialization(LogicalOperator &op) {
	if (IsWindowOverAllRows(op)) {
		return;
	}
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		op.Cast<LogicalGet>().function.late_materialization = false;
	}
	for (auto &child : op.children) {
		ForbidLateMaterialization(*child);
	}
}

//! Before DuckDB's optimizers: a row limit makes them read the other columns of the rows found in a second scan, which
//! is one more join between stages and no gain.
void PrepareOptimizers(OptimizerExtensionInput &input, unique_ptr<LogicalOperator> &plan) {
	auto settings = Settings::Read(input.context);
	if (settings.mode != Mode::OFF && static_cast<SkeinInstance &>(*input.info).MayHaveWorkers(settings)) {
		ForbidLateMaterialization(*plan);
	}
}

//! Workers keep database files open, and locked, until their tasks have ended, which may be after the session has all
//! rows. Before it attaches such a file for writing, or takes it from the session, the last query ends.
void WaitForLocks(ClientContext &context, const LogicalOperator &plan) {
	constexpr std::chrono::seconds LIMIT{2};
	if (plan.type == LogicalOperatorType::LOGICAL_ATTACH || plan.type == LogicalOperatorType::LOGICAL_DETACH) {
		auto last = Session::Get(context)->Last();
		if (last.run) {
			last.run->WaitEnded(LIMIT);
		}
	}
}

void Optimize(OptimizerExtensionInput &input, unique_ptr<LogicalOperator> &plan) {
	WaitForLocks(input.context, *plan);
	auto started_at = std::chrono::steady_clock::now();
	string reason;
	auto query = FindQuery(plan, reason);
	if ((!query && reason.empty()) || ReadsOwnFunction(*plan)) {
		return;
	}
	auto &instance = static_cast<SkeinInstance &>(*input.info);
	PlanResult result;
	result.reason = reason;
	size_t workers = 0;
	if (query) {
		result = Distribute(input, instance, plan, *query, workers);
	}
	LastQuery last;
	last.distributed = result.plan != nullptr;
	last.reason = result.reason;
	last.plan = result.plan;
	last.workers = workers;
	last.started_at = started_at;
	std::chrono::duration<double, std::milli> planning = std::chrono::steady_clock::now() - started_at;
	last.planning_ms = planning.count();
	auto settings = Settings::Read(input.context);
	if (!settings.trace_endpoint.empty()) {
		last.sql = input.context.GetCurrentQuery();
		last.trace = {instance.Traces(), settings.trace_endpoint, settings.trace_parent};
	}
	Session::Get(input.context)->SetPlanned(std::move(last));
	if (plan->type == LogicalOperatorType::LOGICAL_EXPLAIN) {
		auto &explain = plan->Cast<LogicalExplain>();
		Value output;
		auto standard = input.context.TryGetCurrentSetting("explain_output", output) &&
						StringUtil::Lower(output.ToString()) == "physical_only";
		if (explain.explain_type == ExplainType::EXPLAIN_STANDARD && standard) {
			plan = make_uniq<ExplainOperator>(explain, result.plan, result.reason);
			plan->ResolveOperatorTypes();
		} else if (IsAnalyze(explain)) {
			plan = make_uniq<AnalyzeOperator>(explain, result.plan ? query->get() : nullptr, result.reason);
			plan->ResolveOperatorTypes();
		}
	}
}

} // namespace

OptimizerExtension MakeOptimizerHook(duckdb::shared_ptr<SkeinInstance> instance) {
	OptimizerExtension extension;
	extension.pre_optimize_function = PrepareOptimizers;
	extension.optimize_function = Optimize;
	extension.optimizer_info = std::move(instance);
	return extension;
}

} // namespace skein
