#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression_binder.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"
#include "plan/columns.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The types that DuckDB's physical operators will have: a projection that changes nothing but a column's collation is
//! left out there, and its collation with it.
vector<LogicalType> PhysicalTypes(LogicalOperator &op) {
	if (op.type == LogicalOperatorType::LOGICAL_FILTER && !op.HasProjectionMap()) {
		return PhysicalTypes(*op.children[0]);
	}
	if (op.type != LogicalOperatorType::LOGICAL_PROJECTION) {
		return op.types;
	}
	auto inputs = op.children[0]->GetColumnBindings();
	for (idx_t i = 0; i < op.expressions.size(); i++) {
		auto &expression = *op.expressions[i];
		if (inputs.size() != op.expressions.size() ||
			expression.GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF ||
			expression.Cast<BoundColumnRefExpression>().binding != inputs[i]) {
			return op.types;
		}
	}
	return PhysicalTypes(*op.children[0]);
}

//! Gives the columns of `op` these types, which differ from its own in collations alone. They go by position above.
void SetTypes(Placement &placement, unique_ptr<LogicalOperator> &op, const vector<LogicalType> &types) {
	vector<unique_ptr<Expression>> columns;
	auto bindings = op->GetColumnBindings();
	for (idx_t i = 0; i < bindings.size(); i++) {
		columns.push_back(make_uniq<BoundColumnRefExpression>(types[i], bindings[i]));
	}
	AddProjection(op, placement.NewTableIndex(), std::move(columns));
}

//! All columns of an operator, as DuckDB compares them: by their collation.
vector<unique_ptr<Expression>> AllColumns(ClientContext &context, LogicalOperator &op) {
	vector<unique_ptr<Expression>> result;
	auto bindings = op.GetColumnBindings();
	for (idx_t i = 0; i < bindings.size(); i++) {
		result.push_back(make_uniq<BoundColumnRefExpression>(op.types[i], bindings[i]));
		ExpressionBinder::PushCollation(context, result.back(), op.types[i]);
	}
	return result;
}

//! EXCEPT and INTERSECT, with and without ALL: equal rows of both sides are brought together; NULLs are equal. The left
//! side's types say what is equal.
//!
//!     Except            Except
//!       a        =>       NetworkShuffle[all columns]
//!       b                   a
//!                         NetworkShuffle[all columns]
//!                           b
class SetOperationRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_EXCEPT || op.type == LogicalOperatorType::LOGICAL_INTERSECT;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto types = PhysicalTypes(*op->children[0]);
		auto spread = false;
		auto pinned = false;
		vector<Distribution> places;
		for (auto &child : op->children) {
			places.push_back(placement.Place(child, false));
			spread = spread || places.back().IsSpread();
			pinned = pinned || places.back().pinned;
			SetTypes(placement, child, types);
		}
		if (!spread || pinned) {
			auto result = placement.BringTogether(*op, places);
			result.in_order = false;
			return result;
		}
		op->ResolveOperatorTypes();
		for (auto &child : op->children) {
			placement.Shuffle(child, AllColumns(placement.Context(), *child));
		}
		return Distribution::Arbitrary();
	}
};

} // namespace

unique_ptr<PlacementRule> MakeSetOperationRule() {
	return make_uniq<SetOperationRule>();
}

} // namespace skein
