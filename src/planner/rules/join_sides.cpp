#include "planner/rules/join_sides.hpp"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_any_join.hpp"

namespace skein {

using namespace duckdb;

bool MayBroadcastRight(JoinType type) {
	switch (type) {
	case JoinType::INNER:
	case JoinType::LEFT:
	case JoinType::SEMI:
	case JoinType::ANTI:
	case JoinType::MARK:
	case JoinType::SINGLE:
		return true;
	default:
		return false;
	}
}

bool MayBroadcastLeft(JoinType type) {
	switch (type) {
	case JoinType::INNER:
	case JoinType::RIGHT:
	case JoinType::RIGHT_SEMI:
	case JoinType::RIGHT_ANTI:
		return true;
	default:
		return false;
	}
}

bool MayFilterLeft(JoinType type) {
	return type == JoinType::SEMI || MayBroadcastLeft(type);
}

bool MayFilterRight(JoinType type) {
	// A MARK join also looks at whether there is any row, and any NULL.
	return MayBroadcastRight(type) && type != JoinType::MARK;
}

bool MayPartition(JoinType type) {
	return type != JoinType::MARK;
}

JoinType JoinTypeOf(const LogicalOperator &join) {
	switch (join.type) {
	case LogicalOperatorType::LOGICAL_CROSS_PRODUCT:
		return JoinType::INNER;
	case LogicalOperatorType::LOGICAL_ANY_JOIN:
		return join.Cast<LogicalAnyJoin>().join_type;
	default:
		return join.Cast<LogicalComparisonJoin>().join_type;
	}
}

EquiKeys EquiKeysOf(const LogicalOperator &join) {
	EquiKeys keys;
	if (join.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN &&
		join.type != LogicalOperatorType::LOGICAL_ASOF_JOIN && join.type != LogicalOperatorType::LOGICAL_DELIM_JOIN) {
		return keys;
	}
	for (auto &condition : join.Cast<LogicalComparisonJoin>().conditions) {
		auto equality = condition.comparison == ExpressionType::COMPARE_EQUAL ||
						condition.comparison == ExpressionType::COMPARE_NOT_DISTINCT_FROM;
		if (equality && condition.left->return_type == condition.right->return_type) {
			keys.left.push_back(*condition.left);
			keys.right.push_back(*condition.right);
		}
	}
	return keys;
}

optional_idx EquiKeys::Find(const EquivalentColumns &key, bool on_left) const {
	auto &side = on_left ? left : right;
	for (idx_t i = 0; i < side.size(); i++) {
		if (side[i].get().GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF) {
			continue;
		}
		auto &binding = side[i].get().Cast<BoundColumnRefExpression>().binding;
		if (std::find(key.begin(), key.end(), binding) != key.end()) {
			return i;
		}
	}
	return optional_idx();
}

bool EquiKeys::Match(const Distribution &distribution, bool on_left, vector<idx_t> &conditions) const {
	conditions.clear();
	if (distribution.kind != DistributionKind::HASH) {
		return false;
	}
	for (auto &key : distribution.keys) {
		auto condition = Find(key, on_left);
		if (!condition.IsValid()) {
			return false;
		}
		conditions.push_back(condition.GetIndex());
	}
	return true;
}

vector<unique_ptr<Expression>> EquiKeys::CopyLeft(const vector<idx_t> &which) const {
	vector<unique_ptr<Expression>> result;
	for (auto i : which) {
		result.push_back(left[i].get().Copy());
	}
	return result;
}

vector<unique_ptr<Expression>> EquiKeys::CopyRight(const vector<idx_t> &which) const {
	vector<unique_ptr<Expression>> result;
	for (auto i : which) {
		result.push_back(right[i].get().Copy());
	}
	return result;
}

vector<idx_t> EquiKeys::All() const {
	vector<idx_t> result;
	for (idx_t i = 0; i < left.size(); i++) {
		result.push_back(i);
	}
	return result;
}

} // namespace skein
