#include "extension/explain_operator.hpp"

#include "duckdb/common/types/column/column_data_collection.hpp"
#include "duckdb/execution/operator/scan/physical_column_data_scan.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "explain/plan_dot.hpp"
#include "explain/plan_json.hpp"
#include "explain/visible_text.hpp"

#include <nlohmann/json.hpp>

namespace skein {

using namespace duckdb;

ExplainOperator::ExplainOperator(LogicalExplain &explain, std::shared_ptr<const DistributedPlan> distributed,
								 std::string reason)
	: format_(explain.explain_format), distributed_(std::move(distributed)), reason_(std::move(reason)) {
	children = std::move(explain.children);
}

PhysicalOperator &ExplainOperator::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto &plan = planner.CreatePlan(*children[0]);
	string value;
	if (format_ == ExplainFormat::JSON) {
		nlohmann::ordered_json json;
		json["distributed"] = distributed_ != nullptr;
		if (distributed_) {
			json.update(PlanJson(*distributed_));
		} else {
			json["reason"] = reason_;
		}
		json["head"] = nlohmann::ordered_json::parse(plan.ToString(format_));
		value = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
	} else if (distributed_ && format_ == ExplainFormat::GRAPHVIZ) {
		value = PlanDot(distributed_->outline);
	} else if (distributed_) {
		value = distributed_->text;
	} else if (format_ == ExplainFormat::DEFAULT || format_ == ExplainFormat::TEXT) {
		value = "not distributed: " + VisibleText(reason_) + "\n" + plan.ToString(format_);
	} else {
		value = plan.ToString(format_);
	}
	auto rows = make_uniq<ColumnDataCollection>(context, types, ColumnDataAllocatorType::IN_MEMORY_ALLOCATOR);
	DataChunk chunk;
	chunk.Initialize(Allocator::Get(context), types);
	chunk.SetValue(0, 0, Value("physical_plan"));
	chunk.SetValue(1, 0, Value(value));
	chunk.SetCardinality(1);
	rows->Append(chunk);
	return planner.Make<PhysicalColumnDataScan>(types, PhysicalOperatorType::COLUMN_DATA_SCAN, 1, std::move(rows));
}

} // namespace skein
