#include "inventory.hpp"

#include "duckdb/common/enum_util.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_any_join.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"

namespace skein::test {
namespace {

using duckdb::EnumUtil;
using duckdb::Expression;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;

//! The names of an enumeration's values, of which each is one byte.
template <class ENUM>
std::set<std::string> Names() {
	std::set<std::string> result;
	for (unsigned value = 0; value <= 255; value++) {
		try {
			result.insert(EnumUtil::ToChars(static_cast<ENUM>(value)));
		} catch (const std::exception &) {
			// No enumerator has this value.
		}
	}
	return result;
}

bool IsWindow(const std::string &expression) {
	return expression.rfind("WINDOW_", 0) == 0;
}

void AddJoin(Inventory &inventory, const LogicalOperator &op, duckdb::JoinType type) {
	std::string name = EnumUtil::ToChars(type);
	inventory.join_types.insert(name);
	inventory.joins.insert(duckdb::LogicalOperatorToString(op.type) + " " + name);
}

void AddExpression(Inventory &inventory, Expression &expression) {
	std::string name = EnumUtil::ToChars(expression.GetExpressionType());
	if (IsWindow(name)) {
		inventory.windows.insert(name);
	}
	duckdb::ExpressionIterator::EnumerateChildren(expression,
												  [&](Expression &child) { AddExpression(inventory, child); });
}

} // namespace

Inventory Inventory::OfEngine() {
	Inventory result;
	result.operators = Names<LogicalOperatorType>();
	result.join_types = Names<duckdb::JoinType>();
	for (auto &name : Names<duckdb::ExpressionType>()) {
		if (IsWindow(name)) {
			result.windows.insert(name);
		}
	}
	return result;
}

void Inventory::Add(const Inventory &other) {
	operators.insert(other.operators.begin(), other.operators.end());
	join_types.insert(other.join_types.begin(), other.join_types.end());
	windows.insert(other.windows.begin(), other.windows.end());
	joins.insert(other.joins.begin(), other.joins.end());
}

void Inventory::AddPlan(LogicalOperator &plan) {
	operators.insert(EnumUtil::ToChars(plan.type));
	switch (plan.type) {
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
	case LogicalOperatorType::LOGICAL_DELIM_JOIN:
	case LogicalOperatorType::LOGICAL_ASOF_JOIN:
		AddJoin(*this, plan, plan.Cast<duckdb::LogicalComparisonJoin>().join_type);
		break;
	case LogicalOperatorType::LOGICAL_ANY_JOIN:
		AddJoin(*this, plan, plan.Cast<duckdb::LogicalAnyJoin>().join_type);
		break;
	case LogicalOperatorType::LOGICAL_CROSS_PRODUCT:
	case LogicalOperatorType::LOGICAL_POSITIONAL_JOIN:
		joins.insert(duckdb::LogicalOperatorToString(plan.type));
		break;
	default:
		break;
	}
	duckdb::LogicalOperatorVisitor::EnumerateExpressions(plan, [&](duckdb::unique_ptr<Expression> *expression) {
		if (*expression) {
			AddExpression(*this, **expression);
		}
	});
	for (auto &child : plan.children) {
		AddPlan(*child);
	}
}

} // namespace skein::test
