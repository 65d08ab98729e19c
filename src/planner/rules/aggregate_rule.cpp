#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "engine/aggregate_parts.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The parts of all aggregates of an operator, or nothing and why not.
std::optional<vector<AggregateParts>> SplitAll(ClientContext &context, LogicalAggregate &aggregate,
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

//! The arguments that all DISTINCT aggregates have in common; empty if there are none or they differ.
vector<unique_ptr<Expression>> CommonDistinctArguments(LogicalAggregate &aggregate) {
	vector<unique_ptr<Expression>> result;
	bool found = false;
	for (auto &expression : aggregate.expressions) {
		auto &bound = expression->Cast<BoundAggregateExpression>();
		if (!bound.IsDistinct()) {
			continue;
		}
		if (!found) {
			found = true;
			for (auto &child : bound.children) {
				result.push_back(child->Copy());
			}
			continue;
		}
		if (!Expression::ListEquals(result, bound.children)) {
			return {};
		}
	}
	return result;
}

bool HasDistinct(LogicalAggregate &aggregate) {
	for (auto &expression : aggregate.expressions) {
		if (expression->Cast<BoundAggregateExpression>().IsDistinct()) {
			return true;
		}
	}
	return false;
}

//! How the columns by which rows are grouped are called below and above the aggregate.
void GroupNames(LogicalAggregate &aggregate, vector<ColumnBinding> &from, vector<ColumnBinding> &to) {
	for (idx_t i = 0; i < aggregate.groups.size(); i++) {
		if (aggregate.groups[i]->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
			from.push_back(aggregate.groups[i]->Cast<BoundColumnRefExpression>().binding);
			to.emplace_back(aggregate.group_index, i);
		}
	}
}

vector<unique_ptr<Expression>> CopyAll(const vector<unique_ptr<Expression>> &expressions) {
	vector<unique_ptr<Expression>> result;
	for (auto &expression : expressions) {
		result.push_back(expression->Copy());
	}
	return result;
}

//! Computes aggregates where all rows of a group are: in place, after parts of them have been computed where the rows
//! are, or after the rows have been moved.
//!
//!     Aggregate[k: sum(v)]        Aggregate[k: sum(s)]
//!       ...                 =>      NetworkShuffle[k]
//!                                     Aggregate[k: sum(v) AS s]
//!                                       ...
//!
//! In parts: if all aggregates can be combined from parts; an ungrouped DISTINCT after a shuffle by its arguments.
//! Grouping sets: in one task.
class AggregateRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto &child = aggregate.children[0];
		auto below = placement.Place(child, false);
		if (below.IsSingle()) {
			below.in_order = false;
			return below;
		}
		if (below.kind == DistributionKind::REPLICATED) {
			return below;
		}
		if (aggregate.grouping_sets.size() > 1 ||
			(aggregate.grouping_sets.size() == 1 && aggregate.grouping_sets[0].size() != aggregate.groups.size())) {
			placement.AddReason("grouping sets are computed in one task");
			return placement.Coalesce(child, below);
		}
		vector<ColumnBinding> from, to;
		GroupNames(aggregate, from, to);
		auto in_place = Rename(below, from, to);
		if (below.pinned || in_place.kind == DistributionKind::HASH) {
			// Each group is in one task already.
			return in_place;
		}
		return aggregate.groups.empty() ? PlaceUngrouped(placement, op, below) : PlaceGrouped(placement, op, below);
	}

private:
	static Distribution PlaceUngrouped(Placement &placement, unique_ptr<LogicalOperator> &op,
									   const Distribution &below) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto &child = aggregate.children[0];
		auto arguments = CommonDistinctArguments(aggregate);
		auto distinct = HasDistinct(aggregate);
		string reason;
		if (distinct && arguments.empty()) {
			reason = "DISTINCT over different arguments";
		} else if (auto parts = SplitAll(placement.Context(), aggregate, distinct, reason)) {
			if (distinct) {
				placement.Shuffle(child, std::move(arguments));
			}
			MakeTwoSteps(placement, op, *parts);
			placement.Coalesce(op->children[0], Distribution::Arbitrary());
			return Distribution::Single();
		}
		placement.AddReason(reason);
		return placement.Coalesce(child, below);
	}

	static Distribution PlaceGrouped(Placement &placement, unique_ptr<LogicalOperator> &op, const Distribution &below) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		string reason;
		vector<EquivalentColumns> keys;
		for (idx_t i = 0; i < aggregate.groups.size(); i++) {
			keys.push_back({ColumnBinding(aggregate.group_index, i)});
		}
		auto parts = SplitAll(placement.Context(), aggregate, false, reason);
		if (!parts) {
			placement.Shuffle(aggregate.children[0], CopyAll(aggregate.groups));
			return Distribution::Hash(std::move(keys));
		}
		MakeTwoSteps(placement, op, *parts);
		placement.Shuffle(op->children[0], CopyAll(op->Cast<LogicalAggregate>().groups));
		return Distribution::Hash(std::move(keys));
	}

	//! Puts an aggregate that computes the parts below `op`, which combines them; without a boundary between the two.
	static void MakeTwoSteps(Placement &placement, unique_ptr<LogicalOperator> &op, vector<AggregateParts> &parts) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto group_index = placement.NewTableIndex();
		auto aggregate_index = placement.NewTableIndex();
		vector<unique_ptr<Expression>> partials;
		for (auto &part : parts) {
			partials.push_back(part.partial->Copy());
		}
		auto partial = make_uniq<LogicalAggregate>(group_index, aggregate_index, std::move(partials));
		partial->groups = CopyAll(aggregate.groups);
		if (!aggregate.grouping_sets.empty()) {
			partial->grouping_sets = aggregate.grouping_sets;
		}
		partial->children.push_back(std::move(aggregate.children[0]));
		partial->SetEstimatedCardinality(aggregate.EstimateCardinality(placement.Context()));
		partial->ResolveOperatorTypes();

		for (idx_t i = 0; i < aggregate.groups.size(); i++) {
			auto &type = aggregate.groups[i]->return_type;
			auto name = aggregate.groups[i]->GetAlias();
			auto shown = name.empty() ? aggregate.groups[i]->GetName() : name;
			aggregate.groups[i] = make_uniq<BoundColumnRefExpression>(shown, type, ColumnBinding(group_index, i));
		}
		for (idx_t i = 0; i < parts.size(); i++) {
			auto column = make_uniq<BoundColumnRefExpression>(aggregate.expressions[i]->GetName(),
															  parts[i].partial_type, ColumnBinding(aggregate_index, i));
			aggregate.expressions[i] = parts[i].make_final(placement.Context(), std::move(column));
		}
		// They described the rows that are read; what is read now are parts.
		aggregate.group_stats.clear();
		aggregate.children[0] = std::move(partial);
	}
};

} // namespace

unique_ptr<PlacementRule> MakeAggregateRule() {
	return make_uniq<AggregateRule>();
}

} // namespace skein
