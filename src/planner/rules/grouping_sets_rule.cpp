#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/list.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"
#include "plan/columns.hpp"
#include "planner/rules/aggregate_steps.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The most groups that one call of GROUPING() takes.
constexpr idx_t MAX_GROUPING_ARGUMENTS = 63;

bool HasEqualSets(const LogicalAggregate &aggregate) {
	std::set<GroupingSet> sets(aggregate.grouping_sets.begin(), aggregate.grouping_sets.end());
	return sets.size() < aggregate.grouping_sets.size();
}

//! What GROUPING() of these groups returns in the rows of a set: a bit for each group that the set has not.
int64_t GroupingValue(const unsafe_vector<idx_t> &groups, const GroupingSet &set) {
	int64_t result = 0;
	for (auto group : groups) {
		result = result * 2 + (set.count(group) == 0 ? 1 : 0);
	}
	return result;
}

//! Aggregates over grouping sets, ROLLUP and CUBE.
//!
//! If all aggregates can be computed from parts, each task computes them for every set; the set is one more group then,
//! as the same values may occur in several sets:
//!
//!     Aggregate[sets (a, b), (a): sum(v)]        Project[a, b, sum]
//!       ...                                 =>     Aggregate[a, b, set: sum(s)]
//!                                                    NetworkShuffle[a, b, set]
//!                                                      Aggregate[sets (a, b), (a): sum(v) AS s, GROUPING(a, b) AS set]
//!                                                        ...
//!
//! Otherwise, or if a set occurs twice, every set is an aggregate of its own over rows that are computed once:
//!
//!     Aggregate[sets (a, b), (a): median(v)]      UnionAll
//!       ...                                  =>     Project[a, b, median]
//!                                                     Aggregate[a, b: median(v)] over the shared rows
//!                                                   Project[a, NULL, median]
//!                                                     Aggregate[a: median(v)] over the shared rows
class GroupingSetsRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY &&
			   HasGroupingSets(op.Cast<LogicalAggregate>());
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto below = placement.Place(aggregate.children[0], false);
		if (!below.IsSpread()) {
			below.in_order = false;
			return below;
		}
		if (below.pinned) {
			throw InternalException("Grouping sets between a delim join and its duplicate-eliminated side");
		}
		string reason;
		auto parts = SplitAll(placement.Context(), aggregate, /*distinct_is_local=*/false, reason);
		if (parts && !HasEqualSets(aggregate) && aggregate.groups.size() <= MAX_GROUPING_ARGUMENTS) {
			return PlaceParts(placement, op, *parts);
		}
		return PlaceEachSet(placement, op, std::move(below));
	}

private:
	static Distribution PlaceParts(Placement &placement, unique_ptr<LogicalOperator> &op,
								   const vector<AggregateParts> &parts) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto names = aggregate.GetColumnBindings();
		auto cardinality = aggregate.EstimateCardinality(placement.Context());
		auto preferred = PreferredGroups(placement, aggregate);
		auto partial = MakePartial(placement, aggregate, parts);
		partial->groupings_index = placement.NewTableIndex();
		partial->grouping_functions = aggregate.grouping_functions;
		unsafe_vector<idx_t> all_groups;
		for (idx_t i = 0; i < partial->groups.size(); i++) {
			all_groups.push_back(i);
		}
		partial->grouping_functions.push_back(std::move(all_groups));
		partial->ResolveOperatorTypes();

		auto combined = make_uniq<LogicalAggregate>(placement.NewTableIndex(), placement.NewTableIndex(),
													MakeFinals(placement, aggregate, *partial, parts));
		for (idx_t i = 0; i < partial->groups.size(); i++) {
			combined->groups.push_back(GroupColumn(*partial, i));
		}
		auto functions = partial->grouping_functions.size();
		for (idx_t i = functions; i-- > 0;) {
			combined->groups.push_back(make_uniq<BoundColumnRefExpression>("set", LogicalType::BIGINT,
																		   ColumnBinding(partial->groupings_index, i)));
		}
		// The set itself, which comes first, decides what the other calls of GROUPING() return.
		auto keys = CopyAll(combined->groups);
		keys.resize(partial->groups.size() + 1);
		auto place = Distribution::Arbitrary();
		if (!preferred.empty()) {
			// Equal rows of a set meet by these too; a set that lacks one has NULL there.
			place = Distribution::Hash({});
			keys.clear();
			for (auto group : preferred) {
				keys.push_back(combined->groups[group]->Copy());
				place.keys.push_back({ColumnBinding(combined->group_index, group)});
			}
		}
		combined->SetEstimatedCardinality(cardinality);
		combined->children.push_back(std::move(partial));
		placement.Shuffle(combined->children[0], std::move(keys));
		combined->ResolveOperatorTypes();

		vector<ColumnBinding> columns;
		auto groups = aggregate.groups.size();
		for (idx_t i = 0; i < groups; i++) {
			columns.emplace_back(combined->group_index, i);
		}
		for (idx_t i = 0; i < aggregate.expressions.size(); i++) {
			columns.emplace_back(combined->aggregate_index, i);
		}
		for (idx_t i = 0; i + 1 < functions; i++) {
			columns.emplace_back(combined->group_index, groups + functions - 1 - i);
		}
		op = std::move(combined);
		return placement.Project(op, columns, names, std::move(place));
	}

	static Distribution PlaceEachSet(Placement &placement, unique_ptr<LogicalOperator> &op, Distribution below) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto names = aggregate.GetColumnBindings();
		auto cardinality = aggregate.EstimateCardinality(placement.Context());
		auto child_columns = aggregate.children[0]->GetColumnBindings();
		auto shared = placement.Share(aggregate.children[0], std::move(below), "grouping sets");
		vector<unique_ptr<LogicalOperator>> children;
		for (auto &set : aggregate.grouping_sets) {
			children.push_back(OneSet(placement, aggregate, set, shared, child_columns));
		}
		auto column_count = names.size();
		if (children.size() == 1) {
			op = std::move(children[0]);
		} else {
			op = make_uniq<LogicalSetOperation>(placement.NewTableIndex(), column_count, std::move(children),
												LogicalOperatorType::LOGICAL_UNION, /*setop_all=*/true);
			op->SetEstimatedCardinality(cardinality);
		}
		op->ResolveOperatorTypes();
		auto result = placement.Place(op, /*keep_order=*/false);
		return placement.Project(op, op->GetColumnBindings(), names, std::move(result));
	}

	//! The rows of one set, with the columns of the whole aggregate.
	static unique_ptr<LogicalOperator> OneSet(Placement &placement, const LogicalAggregate &aggregate,
											  const GroupingSet &set, idx_t shared,
											  const vector<ColumnBinding> &child_columns) {
		auto read = placement.ReadShared(shared);
		auto read_columns = read->GetColumnBindings();
		auto one = make_uniq<LogicalAggregate>(placement.NewTableIndex(), placement.NewTableIndex(),
											   CopyAll(aggregate.expressions));
		vector<unique_ptr<Expression>> columns;
		for (idx_t group = 0; group < aggregate.groups.size(); group++) {
			auto &type = aggregate.groups[group]->return_type;
			if (set.count(group) == 0) {
				columns.push_back(make_uniq<BoundConstantExpression>(Value(type)));
				continue;
			}
			columns.push_back(
				make_uniq<BoundColumnRefExpression>(type, ColumnBinding(one->group_index, one->groups.size())));
			one->groups.push_back(aggregate.groups[group]->Copy());
		}
		for (idx_t i = 0; i < one->expressions.size(); i++) {
			columns.push_back(make_uniq<BoundColumnRefExpression>(one->expressions[i]->return_type,
																  ColumnBinding(one->aggregate_index, i)));
		}
		for (auto &function : aggregate.grouping_functions) {
			columns.push_back(make_uniq<BoundConstantExpression>(Value::BIGINT(GroupingValue(function, set))));
		}
		ReplaceColumns(*one, child_columns, read_columns);
		if (read->has_estimated_cardinality) {
			one->SetEstimatedCardinality(one->groups.empty() ? 1 : read->estimated_cardinality);
		}
		one->children.push_back(std::move(read));
		unique_ptr<LogicalOperator> result = std::move(one);
		AddProjection(result, placement.NewTableIndex(), std::move(columns));
		return result;
	}
};

} // namespace

unique_ptr<PlacementRule> MakeGroupingSetsRule() {
	return make_uniq<GroupingSetsRule>();
}

} // namespace skein
