#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/operator/logical_cross_product.hpp"
#include "plan/columns.hpp"
#include "planner/partition_dealing.hpp"
#include "planner/rules/aggregate_steps.hpp"
#include "planner/rules/rules.hpp"

#include <numeric>

namespace skein {

using namespace duckdb;

namespace {

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
			result = CopyAll(bound.children);
			continue;
		}
		if (!Expression::ListEquals(result, bound.children)) {
			return {};
		}
	}
	return result;
}

//! The places of the aggregates that can be computed together: those with the same DISTINCT arguments, and those that
//! are not DISTINCT.
vector<vector<idx_t>> ByDistinctArguments(const LogicalAggregate &aggregate) {
	vector<vector<idx_t>> result;
	for (idx_t i = 0; i < aggregate.expressions.size(); i++) {
		auto &bound = aggregate.expressions[i]->Cast<BoundAggregateExpression>();
		auto same = std::find_if(result.begin(), result.end(), [&](const vector<idx_t> &members) {
			auto &other = aggregate.expressions[members[0]]->Cast<BoundAggregateExpression>();
			return other.IsDistinct() == bound.IsDistinct() &&
				   (!bound.IsDistinct() || Expression::ListEquals(other.children, bound.children));
		});
		if (same == result.end()) {
			result.push_back({i});
		} else {
			same->push_back(i);
		}
	}
	return result;
}

//! Whether an aggregate lists its rows as they come. DuckDB promises no order here either, but keeps it for a few rows.
bool CollectsInOrder(const LogicalAggregate &aggregate) {
	static const unordered_set<string> NAMES{"list", "array_agg", "string_agg", "group_concat", "listagg"};
	return std::any_of(aggregate.expressions.begin(), aggregate.expressions.end(), [](auto &expression) {
		auto &bound = expression->template Cast<BoundAggregateExpression>();
		return NAMES.count(bound.function.name) > 0 && !bound.order_bys && !bound.IsDistinct();
	});
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
//! One grouping set that is not all groups, or several of them, are for GroupingSetsRule.
class AggregateRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto &child = aggregate.children[0];
		vector<ColumnBinding> from, to;
		PassesColumns(aggregate, to, from);
		auto ordered = placement.Options().preserve_order && aggregate.groups.empty() && CollectsInOrder(aggregate);
		auto below = placement.Place(child, ordered, Renamed(Prefer(to, placement.Preferred()), to, from));
		if (below.IsSingle()) {
			below.in_order = false;
			return below;
		}
		if (below.kind == DistributionKind::REPLICATED) {
			return below;
		}
		from.clear();
		to.clear();
		PassesColumns(aggregate, to, from);
		auto in_place = Rename(below, from, to);
		if (below.pinned || in_place.IsPartitioned() ||
			KeepTogether(placement.Context(), placement.Options(), in_place)) {
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
			return PlaceByArguments(placement, op, below);
		}
		if (auto parts = SplitAll(placement.Context(), aggregate, distinct, reason)) {
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

	//! Aggregates that are DISTINCT over different arguments are computed apart, over rows that are computed once.
	//!
	//!     Aggregate[count(DISTINCT a), count(DISTINCT b)]          CrossProduct
	//!       ...                                            =>        Aggregate[count(DISTINCT a)] over the shared rows
	//!                                                                Aggregate[count(DISTINCT b)] over the shared rows
	static Distribution PlaceByArguments(Placement &placement, unique_ptr<LogicalOperator> &op,
										 const Distribution &below) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto names = aggregate.GetColumnBindings();
		auto child_columns = aggregate.children[0]->GetColumnBindings();
		auto shared = placement.Share(aggregate.children[0], below, "distinct arguments");
		unique_ptr<LogicalOperator> result;
		vector<ColumnBinding> columns(aggregate.expressions.size());
		for (auto &members : ByDistinctArguments(aggregate)) {
			auto read = placement.ReadShared(shared);
			auto part = make_uniq<LogicalAggregate>(placement.NewTableIndex(), placement.NewTableIndex(),
													vector<unique_ptr<Expression>>());
			for (auto member : members) {
				columns[member] = ColumnBinding(part->aggregate_index, part->expressions.size());
				part->expressions.push_back(aggregate.expressions[member]->Copy());
			}
			ReplaceColumns(*part, child_columns, read->GetColumnBindings());
			part->children.push_back(std::move(read));
			part->SetEstimatedCardinality(1);
			if (result) {
				auto product = LogicalCrossProduct::Create(std::move(result), std::move(part));
				result = std::move(product);
				result->SetEstimatedCardinality(1);
			} else {
				result = std::move(part);
			}
		}
		op = std::move(result);
		op->ResolveOperatorTypes();
		auto place = placement.Place(op, /*keep_order=*/false);
		return placement.Project(op, columns, names, std::move(place));
	}

	static Distribution PlaceGrouped(Placement &placement, unique_ptr<LogicalOperator> &op, const Distribution &below) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		string reason;
		auto keys = PreferredGroups(placement, aggregate);
		if (keys.empty()) {
			keys.resize(aggregate.groups.size());
			std::iota(keys.begin(), keys.end(), 0);
		}
		if (auto parts = SplitAll(placement.Context(), aggregate, false, reason)) {
			MakeTwoSteps(placement, op, *parts);
		}
		auto &placed = op->Cast<LogicalAggregate>();
		vector<unique_ptr<Expression>> hashed;
		vector<EquivalentColumns> columns;
		for (auto key : keys) {
			hashed.push_back(placed.groups[key]->Copy());
			columns.push_back({ColumnBinding(placed.group_index, key)});
		}
		placement.Shuffle(placed.children[0], std::move(hashed));
		return Distribution::Hash(std::move(columns));
	}

	//! Puts an aggregate that computes the parts below `op`, which combines them; without a boundary between the two.
	static void MakeTwoSteps(Placement &placement, unique_ptr<LogicalOperator> &op, vector<AggregateParts> &parts) {
		auto &aggregate = op->Cast<LogicalAggregate>();
		auto partial = MakePartial(placement, aggregate, parts);
		aggregate.expressions = MakeFinals(placement, aggregate, *partial, parts);
		for (idx_t i = 0; i < aggregate.groups.size(); i++) {
			aggregate.groups[i] = GroupColumn(*partial, i);
		}
		aggregate.children[0] = std::move(partial);
	}
};

} // namespace

unique_ptr<PlacementRule> MakeAggregateRule() {
	return make_uniq<AggregateRule>();
}

} // namespace skein
