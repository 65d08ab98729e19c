#include "extension/analyze_operator.hpp"

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/query_profiler.hpp"
#include "explain/plan_dot.hpp"
#include "explain/plan_json.hpp"
#include "explain/plan_text.hpp"
#include "explain/visible_text.hpp"
#include "extension/session.hpp"

#include <nlohmann/json.hpp>

namespace skein {

using namespace duckdb;

namespace {

//! How long the report waits for tasks that have not yet said how they ended.
constexpr std::chrono::seconds REPORT_TIMEOUT{2};

class AnalyzeState final : public GlobalSinkState {
public:
	string text;
};

//! What EXPLAIN ANALYZE prints of a query that ran in this session alone. `head`: DuckDB's profile.
string ReportOfLocalQuery(const string &reason, const string &head, ExplainFormat format) {
	if (format == ExplainFormat::JSON) {
		nlohmann::ordered_json json;
		json["distributed"] = false;
		json["reason"] = reason;
		json["head"] = nlohmann::ordered_json::parse(head);
		return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
	}
	if (format == ExplainFormat::DEFAULT || format == ExplainFormat::TEXT) {
		return "not distributed: " + VisibleText(reason) + "\n" + head;
	}
	return head;
}

//! The same of one that ran in stages, too.
string ReportOfStages(const LastQuery &query, const string &head, ExplainFormat format) {
	auto report = query.Report();
	if (format == ExplainFormat::JSON) {
		nlohmann::ordered_json json;
		json["distributed"] = true;
		json.update(PlanJson(*query.plan, report));
		json["head"] = nlohmann::ordered_json::parse(head);
		return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
	}
	if (format == ExplainFormat::GRAPHVIZ) {
		return PlanDot(report);
	}
	return PlanText(report) + "\nThe head, in this session:\n" + head;
}

class PhysicalAnalyze final : public PhysicalOperator {
public:
	//! `reason`: why the query is not distributed, if it is not.
	PhysicalAnalyze(PhysicalPlan &plan, vector<LogicalType> types, ExplainFormat format, std::optional<string> reason)
		: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, std::move(types), 1), format_(format),
		  reason_(std::move(reason)) {
	}
	string GetName() const override {
		return "EXPLAIN_ANALYZE";
	}

	unique_ptr<GlobalSinkState> GetGlobalSinkState(ClientContext &context) const override {
		return make_uniq<AnalyzeState>();
	}
	SinkResultType Sink(ExecutionContext &context, DataChunk &chunk, OperatorSinkInput &input) const override {
		return SinkResultType::NEED_MORE_INPUT;
	}
	SinkFinalizeType Finalize(Pipeline &pipeline, Event &event, ClientContext &context,
							  OperatorSinkFinalizeInput &input) const override {
		auto &profiler = QueryProfiler::Get(context);
		profiler.FinalizeMetrics();
		auto head = profiler.ToString(format_);
		auto &text = input.global_state.Cast<AnalyzeState>().text;
		if (reason_) {
			text = ReportOfLocalQuery(*reason_, head, format_);
			return SinkFinalizeType::READY;
		}
		auto session = Session::Get(context);
		session->CollectMeters(context);
		auto last = session->Last();
		if (last.run) {
			// All rows have come, so that the query may end: then what went over links is known, too.
			last.run->Finish();
			last.run->WaitEnded(REPORT_TIMEOUT);
		}
		text = ReportOfStages(last, head, format_);
		return SinkFinalizeType::READY;
	}
	bool IsSink() const override {
		return true;
	}
	bool ParallelSink() const override {
		return true;
	}

	SourceResultType GetDataInternal(ExecutionContext &context, DataChunk &chunk,
									 OperatorSourceInput &input) const override {
		chunk.SetValue(0, 0, Value("analyzed_plan"));
		chunk.SetValue(1, 0, Value(sink_state->Cast<AnalyzeState>().text));
		chunk.SetCardinality(1);
		return SourceResultType::FINISHED;
	}
	bool IsSource() const override {
		return true;
	}

private:
	const ExplainFormat format_;
	const std::optional<string> reason_;
};

//! Where `wanted` stands under `op`; nullptr if it does not.
optional_ptr<unique_ptr<LogicalOperator>> PlaceOf(const LogicalOperator &wanted, unique_ptr<LogicalOperator> &op) {
	if (op.get() == &wanted) {
		return op;
	}
	for (auto &child : op->children) {
		if (auto place = PlaceOf(wanted, child)) {
			return place;
		}
	}
	return nullptr;
}

} // namespace

AnalyzeOperator::AnalyzeOperator(LogicalExplain &explain, optional_ptr<const LogicalOperator> head, std::string reason)
	: format_(explain.explain_format), head_(head), reason_(std::move(reason)) {
	children = std::move(explain.children);
}

PhysicalOperator &AnalyzeOperator::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto reason = head_ ? std::nullopt : std::optional(reason_);
	auto place = head_ ? PlaceOf(*head_, children[0]) : nullptr;
	auto &meter = Session::Get(context)->Meter(0);
	if (place) {
		// What stands below a source of stages belongs to stages.
		meter.Watch(*place, [](const LogicalOperator &op) { return dynamic_cast<const HeadSource *>(&op) != nullptr; });
	}
	auto &child = planner.CreatePlan(*children[0]);
	if (place) {
		meter.Complete();
	}
	auto &analyze = planner.Make<PhysicalAnalyze>(types, format_, std::move(reason));
	analyze.children.push_back(child);
	return analyze;
}

} // namespace skein
