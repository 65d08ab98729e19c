#include "duckdb/common/type_visitor.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression_binder.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"
#include "plan/columns.hpp"
#include "planner/rules/rules.hpp"

#include <numeric>

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
	AddProjection(op, placement.NewTableIndex(), AllColumns(*op, types));
}

//! These columns of an operator, as DuckDB compares them: by their collation.
vector<unique_ptr<Expression>> KeysAt(ClientContext &context, LogicalOperator &op, const vector<idx_t> &positions) {
	vector<unique_ptr<Expression>> result;
	auto bindings = op.GetColumnBindings();
	for (auto i : positions) {
		result.push_back(make_uniq<BoundColumnRefExpression>(ColumnName(op, bindings[i]), op.types[i], bindings[i]));
		ExpressionBinder::PushCollation(context, result.back(), op.types[i]);
	}
	return result;
}

//! Whether equal values of these types are the same ones: none has a collation.
bool AreExact(const vector<LogicalType> &types) {
	return std::none_of(types.begin(), types.end(), [](const LogicalType &type) {
		return TypeVisitor::Contains(type, [](const LogicalType &part) {
			return part.id() == LogicalTypeId::VARCHAR && !StringType::GetCollation(part).empty();
		});
	});
}

//! The positions of the columns by which the rows of `op` are hashed; empty if they are not, or not by columns.
vector<idx_t> PartitionedBy(LogicalOperator &op, const Distribution &place) {
	vector<idx_t> result;
	if (place.kind != DistributionKind::HASH) {
		return result;
	}
	auto bindings = op.GetColumnBindings();
	for (auto &key : place.keys) {
		auto found = std::find_first_of(bindings.begin(), bindings.end(), key.begin(), key.end());
		if (found == bindings.end()) {
			return {};
		}
		result.push_back(static_cast<idx_t>(found - bindings.begin()));
	}
	return result;
}

bool HasDistinctRows(const LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_DISTINCT:
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
		return true;
	case LogicalOperatorType::LOGICAL_PROJECTION:
		return HasDistinctRows(*op.children[0]);
	default:
		return false;
	}
}

//! EXCEPT and INTERSECT, with and without ALL: equal rows of both sides are brought together; NULLs are equal. The left
//! side's types say what is equal. Without ALL, duplicates go before.
//!
//!     Except            Except
//!       a        =>       NetworkShuffle[all columns]
//!       b                   Distinct
//!                             a
//!                         NetworkShuffle[all columns]
//!                           Distinct
//!                             b
//!
//! A side that is partitioned by some of its columns stays where it is; the other follows it.
class SetOperationRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_EXCEPT || op.type == LogicalOperatorType::LOGICAL_INTERSECT;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		// DuckDB does not keep the types of operators while it takes columns away.
		op->ResolveOperatorTypes();
		auto types = PhysicalTypes(*op->children[0]);
		auto spread = false;
		auto pinned = false;
		vector<Distribution> places;
		for (auto &child : op->children) {
			places.push_back(placement.Place(child, false, child->GetColumnBindings()));
			spread = spread || places.back().IsSpread();
			pinned = pinned || places.back().pinned;
			auto names = child->GetColumnBindings();
			SetTypes(placement, child, types);
			places.back() = Rename(std::move(places.back()), names, child->GetColumnBindings());
		}
		if (!spread || pinned) {
			auto result = placement.BringTogether(*op, places);
			result.in_order = false;
			return result;
		}
		op->ResolveOperatorTypes();
		return BringEqualRowsTogether(placement, *op, places, types);
	}

private:
	static Distribution BringEqualRowsTogether(Placement &placement, LogicalOperator &op,
											   const vector<Distribution> &places, const vector<LogicalType> &types) {
		auto exact = AreExact(types);
		vector<idx_t> keys;
		auto stays = op.children.size();
		for (idx_t i = 0; exact && keys.empty() && i < op.children.size(); i++) {
			keys = PartitionedBy(*op.children[i], places[i]);
			stays = i;
		}
		if (keys.empty()) {
			keys.resize(types.size());
			std::iota(keys.begin(), keys.end(), 0);
			stays = op.children.size();
		}
		for (idx_t i = 0; i < op.children.size(); i++) {
			auto &child = op.children[i];
			if (i == stays || (stays < i && PartitionedBy(*child, places[i]) == keys)) {
				continue;
			}
			if (exact && places[i].IsSpread() && !op.Cast<LogicalSetOperation>().setop_all &&
				!HasDistinctRows(*child)) {
				AddDistinct(child, AllColumns(*child, child->types), child->EstimateCardinality(placement.Context()));
			}
			placement.Shuffle(child, KeysAt(placement.Context(), *child, keys));
		}
		if (!exact) {
			return Distribution::Arbitrary();
		}
		auto result = Distribution::Hash({});
		auto columns = op.GetColumnBindings();
		for (auto key : keys) {
			result.keys.push_back({columns[key]});
		}
		return result;
	}
};

} // namespace

unique_ptr<PlacementRule> MakeSetOperationRule() {
	return make_uniq<SetOperationRule>();
}

} // namespace skein
