#include "planner/rules/aggregate_steps.hpp"

#include "engine/adaptive_aggregate.hpp"

#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Fewer values than this for each task would spread rows unevenly.
constexpr double VALUES_PER_TASK = 8;

//! How many values a group can have at most, as far as is known.
double MostValues(const LogicalAggregate &aggregate, idx_t group) {
	constexpr double UNKNOWN = 1e9;
	if (aggregate.groups[group]->return_type.id() == LogicalTypeId::BOOLEAN) {
		return 2;
	}
	if (group >= aggregate.group_stats.size() || !aggregate.group_stats[group]) {
		return UNKNOWN;
	}
	auto &stats = *aggregate.group_stats[group];
	if (stats.GetStatsType() != StatisticsType::NUMERIC_STATS || !stats.GetType().IsIntegral() ||
		!NumericStats::HasMinMax(stats)) {
		return UNKNOWN;
	}
	return NumericStats::Max(stats).GetValue<double>() - NumericStats::Min(stats).GetValue<double>() + 1;
}

} // namespace

vector<idx_t> PreferredGroups(Placement &placement, const LogicalAggregate &aggregate) {
	vector<idx_t> result;
	double values = 1;
	for (auto &column : placement.Preferred()) {
		if (column.table_index == aggregate.group_index) {
			result.push_back(column.column_index);
			values *= MostValues(aggregate, column.column_index);
		}
	}
	if (values < VALUES_PER_TASK * static_cast<double>(placement.Options().max_tasks)) {
		result.clear();
	}
	return result;
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
	auto partial = make_uniq<LogicalPartialAggregate>(group_index, aggregate_index, std::move(partials));
	partial->groups = CopyAll(aggregate.groups);
	// What is known of the values in the groups holds in both steps: DuckDB may need no hash table in either.
	for (auto &stats : aggregate.group_stats) {
		partial->group_stats.push_back(stats ? stats->ToUnique() : nullptr);
	}
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
