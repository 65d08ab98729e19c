#include "insertion_order.hpp"

#include "duckdb/planner/expression/bound_window_expression.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"

#include <algorithm>

namespace skein::test {
namespace {

using duckdb::LogicalOperatorType;

bool IsStreamingWindow(const duckdb::LogicalOperator &op) {
	return std::all_of(op.expressions.begin(), op.expressions.end(), [](auto &expression) {
		auto &window = expression->template Cast<duckdb::BoundWindowExpression>();
		return window.partitions.empty() && window.orders.empty();
	});
}

bool KeepsOrder(const duckdb::LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_GET:
	case LogicalOperatorType::LOGICAL_CHUNK_GET:
	case LogicalOperatorType::LOGICAL_EXPRESSION_GET:
	case LogicalOperatorType::LOGICAL_DUMMY_SCAN:
	case LogicalOperatorType::LOGICAL_EMPTY_RESULT:
	case LogicalOperatorType::LOGICAL_FILTER:
	case LogicalOperatorType::LOGICAL_PROJECTION:
	case LogicalOperatorType::LOGICAL_UNNEST:
	case LogicalOperatorType::LOGICAL_LIMIT:
		break;
	case LogicalOperatorType::LOGICAL_UNION:
		if (!op.Cast<duckdb::LogicalSetOperation>().setop_all) {
			return false;
		}
		break;
	case LogicalOperatorType::LOGICAL_WINDOW:
		if (!IsStreamingWindow(op)) {
			return false;
		}
		break;
	default:
		return false;
	}
	return std::all_of(op.children.begin(), op.children.end(), [](auto &child) { return KeepsOrder(*child); });
}

} // namespace

bool KeepsInsertionOrder(duckdb::Connection &connection, const std::string &sql) {
	duckdb::Value preserve;
	if (connection.context->TryGetCurrentSetting("preserve_insertion_order", preserve) && !preserve.GetValue<bool>()) {
		return false;
	}
	try {
		return KeepsOrder(*connection.ExtractPlan(sql));
	} catch (const std::exception &) {
		// What cannot be planned on its own promises nothing.
		return false;
	}
}

} // namespace skein::test
