#include "planner/rules/full_join.hpp"

#include "duckdb/planner/expression/list.hpp"
#include "duckdb/planner/operator/logical_any_join.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"
#include "plan/columns.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A side of the join, which is computed once and read by both parts.
struct Side {
	idx_t shared;
	//! What the conditions call its columns.
	vector<ColumnBinding> names;
	vector<LogicalType> types;
};

Side ShareSide(Placement &placement, unique_ptr<LogicalOperator> &op, Distribution place, const string &name) {
	Side result;
	op->ResolveOperatorTypes();
	result.names = op->GetColumnBindings();
	result.types = op->types;
	result.shared = placement.Share(op, std::move(place), name);
	return result;
}

void Append(vector<ColumnBinding> &columns, const vector<ColumnBinding> &more) {
	columns.insert(columns.end(), more.begin(), more.end());
}

//! Whether DuckDB may find the rows without a match by comparing two columns with nested loops, which know no
//! intervals. Its own plans have such a join only above an equality.
bool NeedsAnyJoin(const LogicalComparisonJoin &join, JoinType type) {
	return type == JoinType::ANTI && join.conditions.size() == 1 &&
		   join.conditions[0].left->return_type.InternalType() == PhysicalType::INTERVAL;
}

//! A join on the conditions of `original` of what `first` and `second` read; `flipped`: first is its right side.
unique_ptr<LogicalOperator> MakeJoin(const LogicalOperator &original, JoinType type, bool flipped,
									 const vector<ColumnBinding> &from, unique_ptr<LogicalOperator> first,
									 unique_ptr<LogicalOperator> second) {
	vector<ColumnBinding> to;
	Append(to, (flipped ? second : first)->GetColumnBindings());
	Append(to, (flipped ? first : second)->GetColumnBindings());
	unique_ptr<LogicalOperator> result;
	if (original.type == LogicalOperatorType::LOGICAL_ANY_JOIN) {
		auto join = make_uniq<LogicalAnyJoin>(type);
		join->condition = original.Cast<LogicalAnyJoin>().condition->Copy();
		result = std::move(join);
	} else if (NeedsAnyJoin(original.Cast<LogicalComparisonJoin>(), type)) {
		auto join = make_uniq<LogicalAnyJoin>(type);
		auto &condition = original.Cast<LogicalComparisonJoin>().conditions[0];
		join->condition =
			make_uniq<BoundComparisonExpression>(condition.comparison, condition.left->Copy(), condition.right->Copy());
		result = std::move(join);
	} else {
		auto join = make_uniq<LogicalComparisonJoin>(type);
		for (auto &condition : original.Cast<LogicalComparisonJoin>().conditions) {
			JoinCondition copy;
			copy.left = (flipped ? condition.right : condition.left)->Copy();
			copy.right = (flipped ? condition.left : condition.right)->Copy();
			copy.comparison = flipped ? FlipComparisonExpression(condition.comparison) : condition.comparison;
			join->conditions.push_back(std::move(copy));
		}
		result = std::move(join);
	}
	ReplaceColumns(*result, from, to);
	result->SetEstimatedCardinality(first->has_estimated_cardinality ? first->estimated_cardinality : 1);
	result->children.push_back(std::move(first));
	result->children.push_back(std::move(second));
	result->ResolveOperatorTypes();
	return result;
}

} // namespace

bool CanDivideFullJoin(const LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_ANY_JOIN:
		return op.Cast<LogicalAnyJoin>().join_type == JoinType::OUTER;
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN: {
		auto &join = op.Cast<LogicalComparisonJoin>();
		return join.join_type == JoinType::OUTER && !join.predicate;
	}
	default:
		return false;
	}
}

Distribution PlaceFullJoin(Placement &placement, unique_ptr<LogicalOperator> &op, Distribution left_place,
						   Distribution right_place) {
	auto names = op->GetColumnBindings();
	auto join = std::move(op);
	auto left = ShareSide(placement, join->children[0], std::move(left_place), "left side");
	auto right = ShareSide(placement, join->children[1], std::move(right_place), "right side");
	auto columns = left.names;
	Append(columns, right.names);

	auto matched = MakeJoin(*join, JoinType::LEFT, false, columns, placement.ReadShared(left.shared),
							placement.ReadShared(right.shared));
	vector<unique_ptr<Expression>> all;
	auto matched_columns = matched->GetColumnBindings();
	for (idx_t i = 0; i < columns.size(); i++) {
		all.push_back(make_uniq<BoundColumnRefExpression>(matched->types[i], matched_columns[i]));
	}
	AddProjection(matched, placement.NewTableIndex(), std::move(all));

	auto others = MakeJoin(*join, JoinType::ANTI, true, columns, placement.ReadShared(right.shared),
						   placement.ReadShared(left.shared));
	vector<unique_ptr<Expression>> extended;
	for (auto &type : left.types) {
		extended.push_back(make_uniq<BoundConstantExpression>(Value(type)));
	}
	auto other_columns = others->GetColumnBindings();
	for (idx_t i = 0; i < right.types.size(); i++) {
		extended.push_back(make_uniq<BoundColumnRefExpression>(right.types[i], other_columns[i]));
	}
	AddProjection(others, placement.NewTableIndex(), std::move(extended));

	vector<unique_ptr<LogicalOperator>> children;
	children.push_back(std::move(matched));
	children.push_back(std::move(others));
	op = make_uniq<LogicalSetOperation>(placement.NewTableIndex(), columns.size(), std::move(children),
										LogicalOperatorType::LOGICAL_UNION, /*setop_all=*/true);
	op->SetEstimatedCardinality(join->EstimateCardinality(placement.Context()));
	op->ResolveOperatorTypes();
	auto place = placement.Place(op, /*keep_order=*/false);
	auto union_columns = op->GetColumnBindings();
	return placement.Project(op, Renamed(names, columns, union_columns), names, std::move(place));
}

} // namespace skein
