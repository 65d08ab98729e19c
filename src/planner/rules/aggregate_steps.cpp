#include "planner/rules/aggregate_steps.hpp"

#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"

namespace skein {

using namespace duckdb;

bool HasGroupingSets(const LogicalAggregate &aggregate) {
	return aggregate.grouping_sets.size() > 1 || !aggregate.grouping_functions.empty() ||
		   (aggregate.grouping_sets.size() == 1 && aggregate.grouping_sets[0].size() != aggregate.groups.size());
}

bool HasDistinct(const LogicalAggregate &aggregate) {
	return std::any_of(aggregate.expressions.begin(), aggregate.expressions.end(), [](auto &expression) {
		return expression->template Cast<BoundAggregateExpression>().IsDistinct();
	});
}

std::optional<vector<AggregateParts>> SplitAll(ClientContext &context, const LogicalAggregate &aggregate,
											   bool distinct_is_local, string &reason) {
	vector<AggregateParts> result;
	for (auto &expression : aggregate.expressions) {
		auto copy = expression->Copy();
		auto &bound = copy->Cast<BoundAggregateExpression>();
		auto was_distinct = bound.IsDistinct();
		if (was_distinct && distinct_is_local) {
			bound.aggr_type = AggregateType::NON_DISTINCT;
		}
		auto parts = SplitAggregate(context, bound, reason);
		if (!parts) {
			return std::nullopt;
		}
		if (was_distinct && distinct_is_local) {
			parts->partial->Cast<BoundAggregateExpression>().aggr_type = AggregateType::DISTINCT;
		}
		result.push_back(std::move(*parts));
	}
	return result;
}

unique_ptr<LogicalAggregate> MakePartial(Placement &placement, LogicalAggregate &aggregate,
										 const vector<AggregateParts> &parts) {
	auto group_index = placement.NewTableIndex();
	auto aggregate_index = placement.NewTableIndex();
	vector<unique_ptr<Expression>> partials;
	for (auto &part : parts) {
		partials.push_back(part.partial->Copy());
	}
	auto partial = make_uniq<LogicalAggregate>(group_index, aggregate_index, std::move(partials));
	partial->groups = CopyAll(aggregate.groups);
	partial->grouping_sets = aggregate.grouping_sets;
	partial->SetEstimatedCardinality(aggregate.EstimateCardinality(placement.Context()));
	partial->children.push_back(std::move(aggregate.children[0]));
	partial->ResolveOperatorTypes();
	return partial;
}

vector<unique_ptr<Expression>> MakeFinals(Placement &placement, const LogicalAggregate &aggregate,
										  const LogicalAggregate &partial, const vector<AggregateParts> &parts) {
	vector<unique_ptr<Expression>> result;
	for (idx_t i = 0; i < parts.size(); i++) {
		auto column = make_uniq<BoundColumnRefExpression>(aggregate.expressions[i]->GetName(), parts[i].partial_type,
														  ColumnBinding(partial.aggregate_index, i));
		result.push_back(parts[i].make_final(placement.Context(), std::move(column)));
	}
	return result;
}

unique_ptr<Expression> GroupColumn(const LogicalAggregate &partial, idx_t group) {
	auto &expression = *partial.groups[group];
	auto name = expression.GetAlias();
	return make_uniq<BoundColumnRefExpression>(name.empty() ? expression.GetName() : name, expression.return_type,
											   ColumnBinding(partial.group_index, group));
}

} // namespace skein
