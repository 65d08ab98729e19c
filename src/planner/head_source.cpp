#include "planner/head_source.hpp"

#include "duckdb/execution/physical_plan_generator.hpp"
#include "exchange/logical_exchange.hpp"

namespace skein {

using namespace duckdb;

HeadSource::HeadSource(std::shared_ptr<QueryBinding> binding, idx_t input, ReadOrder order,
					   vector<ColumnBinding> bindings, vector<LogicalType> column_types,
					   vector<SortColumn> sort_columns)
	: binding_(std::move(binding)), input_(input), order_(order), bindings_(std::move(bindings)),
	  column_types_(std::move(column_types)), sort_columns_(std::move(sort_columns)) {
}

void HeadSource::AddSessionStage(uint32_t stage, unique_ptr<LogicalOperator> sink) {
	session_stages_.push_back(stage);
	children.push_back(std::move(sink));
}

vector<idx_t> HeadSource::GetTableIndex() const {
	vector<idx_t> result;
	for (auto &binding : bindings_) {
		if (std::find(result.begin(), result.end(), binding.table_index) == result.end()) {
			result.push_back(binding.table_index);
		}
	}
	return result;
}

InsertionOrderPreservingMap<string> HeadSource::ParamsToString() const {
	InsertionOrderPreservingMap<string> result;
	result["Input"] = std::to_string(input_);
	return result;
}

PhysicalOperator &HeadSource::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto binding = binding_;
	auto input = input_;
	auto get_input = [binding, input](ClientContext &execution) { return binding->HeadInput(execution, input); };
	auto &source = planner.Make<PhysicalExchangeSource>(column_types_, order_, sort_columns_, std::move(get_input),
														estimated_cardinality);
	for (idx_t i = 0; i < children.size(); i++) {
		auto stage = session_stages_[i];
		auto get_channels = [binding, stage](ClientContext &execution) {
			return binding->SessionChannels(execution, stage);
		};
		source.children.push_back(children[i]->Cast<LogicalExchangeSink>().CreatePlan(
			planner, get_channels, binding->SessionMeter(context, stage)));
	}
	return source;
}

} // namespace skein
