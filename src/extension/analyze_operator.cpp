#include "extension/analyze_operator.hpp"

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/query_profiler.hpp"
#include "explain/stage_report.hpp"
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

class PhysicalAnalyze final : public PhysicalOperator {
public:
	PhysicalAnalyze(PhysicalPlan &plan, vector<LogicalType> types, ExplainFormat format,
					std::shared_ptr<const DistributedPlan> distributed)
		: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, std::move(types), 1), format_(format),
		  distributed_(std::move(distributed)) {
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
		std::vector<TaskReport> tasks;
		if (auto run = Session::Get(context)->Last().run) {
			run->WaitTasks(REPORT_TIMEOUT);
			tasks = run->Stats().tasks;
		}
		auto stages = StageReport(*distributed_, tasks);
		auto &text = input.global_state.Cast<AnalyzeState>().text;
		if (format_ == ExplainFormat::JSON) {
			nlohmann::ordered_json json;
			json["distributed"] = true;
			json["stages"] = stages;
			json["head"] = nlohmann::ordered_json::parse(head);
			text = json.dump(2);
		} else {
			text = stages + "\nThe head, in this session:\n" + head;
		}
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
	const std::shared_ptr<const DistributedPlan> distributed_;
};

} // namespace

AnalyzeOperator::AnalyzeOperator(LogicalExplain &explain, std::shared_ptr<const DistributedPlan> plan)
	: format_(explain.explain_format), plan_(std::move(plan)) {
	children = std::move(explain.children);
}

PhysicalOperator &AnalyzeOperator::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto &child = planner.CreatePlan(*children[0]);
	auto &analyze = planner.Make<PhysicalAnalyze>(types, format_, plan_);
	analyze.children.push_back(child);
	return analyze;
}

} // namespace skein
