#include "plan/plan_checker.hpp"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "plan/nodes/exchange.hpp"

#include <set>

namespace skein {

using namespace duckdb;

namespace {

using Columns = std::set<std::pair<idx_t, idx_t>>;

void CheckExpression(const LogicalOperator &op, const Expression &expression, const Columns &columns) {
	if (expression.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
		auto &binding = expression.Cast<BoundColumnRefExpression>().binding;
		if (columns.count({binding.table_index, binding.column_index}) == 0) {
			throw InternalException("Distributed plan: %s refers to column %s %s, which is not among its inputs",
									op.GetName(), expression.GetName(), binding.ToString());
		}
	}
	ExpressionIterator::EnumerateChildren(expression,
										  [&](const Expression &child) { CheckExpression(op, child, columns); });
}

void CheckExchange(const LogicalExchange &exchange) {
	if (exchange.kind != ExchangeKind::SHUFFLE && !exchange.expressions.empty()) {
		throw InternalException("Distributed plan: %s has keys", exchange.GetName());
	}
	if (exchange.kind != ExchangeKind::COALESCE && exchange.read_order != ReadOrder::ANY) {
		throw InternalException("Distributed plan: %s is read in an order", exchange.GetName());
	}
	if ((exchange.read_order == ReadOrder::MERGE) == exchange.orders.empty()) {
		throw InternalException("Distributed plan: %s merges without an order, or has one and does not merge",
								exchange.GetName());
	}
}

} // namespace

void CheckOperator(LogicalOperator &op) {
	if (op.children.empty()) {
		return;
	}
	Columns columns;
	for (auto &child : op.children) {
		for (auto &binding : child->GetColumnBindings()) {
			columns.emplace(binding.table_index, binding.column_index);
		}
	}
	if (op.type == LogicalOperatorType::LOGICAL_RECURSIVE_CTE) {
		// USING KEY names columns of its own.
		for (auto &binding : op.GetColumnBindings()) {
			columns.emplace(binding.table_index, binding.column_index);
		}
	}
	LogicalOperatorVisitor::EnumerateExpressions(op, [&](unique_ptr<Expression> *expression) {
		if (*expression) {
			CheckExpression(op, **expression, columns);
		}
	});
	if (auto exchange = LogicalExchange::From(op)) {
		CheckExchange(*exchange);
	}
}

void CheckPlan(LogicalOperator &op) {
	CheckOperator(op);
	for (auto &child : op.children) {
		CheckPlan(*child);
	}
}

} // namespace skein
