#include "duckdb/planner/operator/logical_limit.hpp"
#include "duckdb/planner/operator/logical_order.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Every order expression is a column that `op` returns: what it returns can be merged by them.
bool OrdersAreColumns(LogicalOperator &op, const vector<BoundOrderByNode> &orders) {
	auto bindings = op.GetColumnBindings();
	for (auto &order : orders) {
		if (order.expression->GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF) {
			return false;
		}
		auto &binding = order.expression->Cast<BoundColumnRefExpression>().binding;
		if (std::find(bindings.begin(), bindings.end(), binding) == bindings.end()) {
			return false;
		}
	}
	return true;
}

//! ORDER BY: each task sorts its rows, then the sorted rows of all are merged.
//!
//!     Order[a]          NetworkCoalesce[merge by a]
//!       ...       =>      Order[a]
//!                           ...
//!
//! Applies if what is returned holds the columns sorted by; otherwise one task sorts all.
class OrderRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_ORDER_BY;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &order = op->Cast<LogicalOrder>();
		auto &child = order.children[0];
		auto below = placement.Place(child, false);
		if (below.IsSingle()) {
			below.in_order = true;
			return below;
		}
		if (!below.IsSpread() || below.pinned || !OrdersAreColumns(order, order.orders)) {
			return placement.Coalesce(child, below);
		}
		vector<BoundOrderByNode> orders;
		for (auto &node : order.orders) {
			orders.push_back(node.Copy());
		}
		return placement.CoalesceSorted(op, orders);
	}
};

//! ORDER BY with LIMIT: each task keeps the rows that could be among the first, the merge takes the first of them.
//!
//!     TopN[a, limit l, offset o]          Limit[l, offset o]
//!       ...                        =>       NetworkCoalesce[merge by a]
//!                                             TopN[a, limit l + o]
//!                                               ...
class TopNRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_TOP_N;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &top = op->Cast<LogicalTopN>();
		auto &child = top.children[0];
		auto below = placement.Place(child, false);
		if (below.IsSingle()) {
			below.in_order = true;
			return below;
		}
		auto overflows = top.limit > static_cast<idx_t>(NumericLimits<int64_t>::Maximum()) - top.offset;
		if (!below.IsSpread() || below.pinned || overflows || !OrdersAreColumns(top, top.orders)) {
			return placement.Coalesce(child, below);
		}
		auto limit = top.limit;
		auto offset = top.offset;
		top.limit = limit + offset;
		top.offset = 0;
		vector<BoundOrderByNode> orders;
		for (auto &node : top.orders) {
			orders.push_back(node.Copy());
		}
		auto result = placement.CoalesceSorted(op, orders);
		auto final_limit = make_uniq<LogicalLimit>(BoundLimitNode::ConstantValue(static_cast<int64_t>(limit)),
												   BoundLimitNode::ConstantValue(static_cast<int64_t>(offset)));
		final_limit->SetEstimatedCardinality(limit);
		final_limit->children.push_back(std::move(op));
		final_limit->ResolveOperatorTypes();
		op = std::move(final_limit);
		return result;
	}
};

} // namespace

unique_ptr<PlacementRule> MakeOrderRule() {
	return make_uniq<OrderRule>();
}

unique_ptr<PlacementRule> MakeTopNRule() {
	return make_uniq<TopNRule>();
}

} // namespace skein
