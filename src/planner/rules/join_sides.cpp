#include "planner/rules/join_sides.hpp"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
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

namespace {

//! Whether an expression reads columns of this operator, and of no other.
bool ReadsOnly(const Expression &expression, const vector<ColumnBinding> &columns) {
	auto found = false;
	auto others = false;
	std::function<void(const Expression &)> visit = [&](const Expression &part) {
		if (part.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
			auto &binding = part.Cast<BoundColumnRefExpression>().binding;
			auto own = std::find(columns.begin(), columns.end(), binding) != columns.end();
			found = found || own;
			others = others || !own;
		}
		ExpressionIterator::EnumerateChildren(part, visit);
	};
	visit(expression);
	return found && !others;
}

//! The equalities that have to be true for two rows to match.
void AddEqualities(const Expression &condition, const vector<ColumnBinding> &left, const vector<ColumnBinding> &right,
				   EquiKeys &keys) {
	if (condition.GetExpressionType() == ExpressionType::CONJUNCTION_AND) {
		for (auto &part : condition.Cast<BoundConjunctionExpression>().children) {
			AddEqualities(*part, left, right, keys);
		}
		return;
	}
	if (condition.GetExpressionType() != ExpressionType::COMPARE_EQUAL &&
		condition.GetExpressionType() != ExpressionType::COMPARE_NOT_DISTINCT_FROM) {
		return;
	}
	auto &comparison = condition.Cast<BoundComparisonExpression>();
	if (comparison.left->return_type != comparison.right->return_type) {
		return;
	}
	if (ReadsOnly(*comparison.left, left) && ReadsOnly(*comparison.right, right)) {
		keys.left.push_back(*comparison.left);
		keys.right.push_back(*comparison.right);
	} else if (ReadsOnly(*comparison.left, right) && ReadsOnly(*comparison.right, left)) {
		keys.left.push_back(*comparison.right);
		keys.right.push_back(*comparison.left);
	}
}

} // namespace

EquiKeys EquiKeysOf(LogicalOperator &join) {
	EquiKeys keys;
	if (join.type == LogicalOperatorType::LOGICAL_ANY_JOIN) {
		AddEqualities(*join.Cast<LogicalAnyJoin>().condition, join.children[0]->GetColumnBindings(),
					  join.children[1]->GetColumnBindings(), keys);
		return keys;
	}
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
