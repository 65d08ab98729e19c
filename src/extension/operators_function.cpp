#include "duckdb/main/extension/extension_loader.hpp"
#include "extension/report_rows.hpp"
#include "extension/session.hpp"
#include "extension/table_functions.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! How long a report waits for workers that have not yet said what they did.
constexpr std::chrono::seconds REPORT_TIMEOUT{5};

unique_ptr<FunctionData> BindOperators(ClientContext &context, TableFunctionBindInput &input,
									   vector<LogicalType> &types, vector<string> &names) {
	names = {
		"stage",		   "operator",			 "name",	  "details", "task", "worker", "rows", "rows_read", "ms",
		"row_groups_read", "row_groups_skipped", "blocked_ms"};
	types = {LogicalType::BIGINT, LogicalType::BIGINT,	LogicalType::VARCHAR, LogicalType::VARCHAR,
			 LogicalType::BIGINT, LogicalType::VARCHAR, LogicalType::BIGINT,  LogicalType::BIGINT,
			 LogicalType::DOUBLE, LogicalType::BIGINT,	LogicalType::BIGINT,  LogicalType::DOUBLE};
	return make_uniq<TableFunctionData>();
}

Value NumberOrNull(const OperatorMetrics::Optional &number) {
	return number ? Number(*number) : Value(LogicalType::BIGINT);
}

//! Rows of the operators of one stage.
class StageRows {
public:
	//! `tasks`: those that have reported; none of the head.
	StageRows(uint32_t stage, const std::vector<TaskReport> &tasks, ReportRows &result)
		: stage_(stage), result_(result) {
		for (auto &task : tasks) {
			workers_[task.task] = task.worker;
		}
	}

	void Add(const string &name, const string &details, const std::map<uint32_t, OperatorMetrics> &measured) {
		for (auto &[task, metrics] : measured) {
			result_.rows.push_back({Number(stage_), Number(next_), Value(name), TextOrNull(details), Number(task),
									TextOrNull(workers_[task]), Number(metrics.rows), NumberOrNull(metrics.rows_read),
									Value::DOUBLE(static_cast<double>(metrics.micros) / 1000),
									NumberOrNull(metrics.row_groups_read), NumberOrNull(metrics.row_groups_skipped),
									metrics.blocked_micros
										? Value::DOUBLE(static_cast<double>(*metrics.blocked_micros) / 1000)
										: Value(LogicalType::DOUBLE)});
		}
		next_++;
	}

	void AddTree(const PlannedOperator &op) {
		Add(op.name, DetailsOf(op), op.measured);
		for (auto &child : op.children) {
			AddTree(child);
		}
	}

private:
	static string DetailsOf(const PlannedOperator &op) {
		switch (op.kind) {
		case PlannedOperator::Kind::LEAF:
			return op.variants.empty() ? string() : op.variants[0].text;
		case PlannedOperator::Kind::INPUT:
			return StringUtil::Format("stage=%u, output=%u", op.stage, op.output);
		default:
			return op.details;
		}
	}

	const uint32_t stage_;
	ReportRows &result_;
	std::map<uint32_t, string> workers_;
	uint64_t next_ = 0;
};

unique_ptr<GlobalTableFunctionState> InitOperators(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto last = Session::Get(context)->Last();
	if (!last.plan) {
		return result;
	}
	if (last.run) {
		last.run->WaitEnded(REPORT_TIMEOUT);
	}
	auto report = last.Report();
	StageRows head(0, {}, *result);
	head.Add("HEAD", "", {});
	head.AddTree(report.outline.head);
	for (size_t i = 0; i < report.stages.size(); i++) {
		StageRows rows(report.outline.stages[i].id, report.stages[i].tasks, *result);
		rows.Add("EXCHANGE_SINK", "", report.stages[i].sink);
		rows.AddTree(report.outline.stages[i].root);
	}
	return result;
}

} // namespace

void RegisterOperatorsFunction(DatabaseInstance &db) {
	ExtensionLoader loader(db, "skein");
	loader.RegisterFunction(TableFunction("skein_operators", {}, ReturnRows, BindOperators, InitOperators));
}

} // namespace skein
