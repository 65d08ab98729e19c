#include "duckdb/planner/operator/logical_limit.hpp"
#include "duckdb/planner/operator/logical_order.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"
#include "plan/columns.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

bool AreColumns(const vector<BoundOrderByNode> &orders) {
	return std::all_of(orders.begin(), orders.end(), [](const BoundOrderByNode &order) {
		return order.expression->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF;
	});
}

//! Computes what rows are ordered by below the operator that orders them, as columns of their own.
//!
//!     Order[lower(a)]          Order[x]
//!       ...              =>      Project[a, b, lower(a) AS x]
//!                                  ...
void ComputeOrders(Placement &placement, unique_ptr<LogicalOperator> &child, vector<BoundOrderByNode> &orders) {
	child->ResolveOperatorTypes();
	auto expressions = AllColumns(*child, child->types);
	auto table_index = placement.NewTableIndex();
	for (auto &order : orders) {
		auto alias = order.expression->GetName();
		auto type = order.expression->return_type;
		auto column = make_uniq<BoundColumnRefExpression>(alias, type, ColumnBinding(table_index, expressions.size()));
		expressions.push_back(std::move(order.expression));
		order.expression = std::move(column);
	}
	AddProjection(child, table_index, std::move(expressions));
}

vector<BoundOrderByNode> CopyOrders(const vector<BoundOrderByNode> &orders) {
	vector<BoundOrderByNode> result;
	for (auto &order : orders) {
		result.push_back(order.Copy());
	}
	return result;
}

//! The first columns of an operator.
vector<ColumnBinding> FirstColumns(LogicalOperator &op, idx_t count) {
	auto result = op.GetColumnBindings();
	result.resize(count);
	return result;
}

//! ORDER BY: each task sorts its rows, then the sorted rows of all are merged.
//!
//!     Order[a]          NetworkCoalesce[merge by a]
//!       ...       =>      Order[a]
//!                           ...
//!
//! The columns sorted by travel even if the query does not return them; they are dropped above the boundary.
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
		if (!below.IsSpread() || below.pinned) {
			return placement.Coalesce(child, below);
		}
		auto names = order.GetColumnBindings();
		auto columns = names;
		auto drops = order.HasProjectionMap();
		if (!AreColumns(order.orders)) {
			auto inputs = child->GetColumnBindings();
			ComputeOrders(placement, child, order.orders);
			columns = Translate(names, inputs, FirstColumns(*child, inputs.size()));
			drops = true;
		}
		order.projection_map.clear();
		order.ResolveOperatorTypes();
		auto result = placement.CoalesceSorted(op, CopyOrders(order.orders));
		return drops ? placement.Project(op, columns, names, std::move(result)) : result;
	}

private:
	//! `columns`, which are among `from`, under the names `to`.
	static vector<ColumnBinding> Translate(vector<ColumnBinding> columns, const vector<ColumnBinding> &from,
										   const vector<ColumnBinding> &to) {
		for (auto &column : columns) {
			column = to[static_cast<idx_t>(std::find(from.begin(), from.end(), column) - from.begin())];
		}
		return columns;
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
		if (!below.IsSpread() || below.pinned || overflows) {
			return placement.Coalesce(child, below);
		}
		auto names = top.GetColumnBindings();
		auto computes = !AreColumns(top.orders);
		if (computes) {
			ComputeOrders(placement, child, top.orders);
		}
		auto limit = top.limit;
		auto offset = top.offset;
		top.limit = limit + offset;
		top.offset = 0;
		top.ResolveOperatorTypes();
		auto result = placement.CoalesceSorted(op, CopyOrders(top.orders));
		auto final_limit = make_uniq<LogicalLimit>(BoundLimitNode::ConstantValue(static_cast<int64_t>(limit)),
												   BoundLimitNode::ConstantValue(static_cast<int64_t>(offset)));
		final_limit->SetEstimatedCardinality(limit);
		final_limit->children.push_back(std::move(op));
		final_limit->ResolveOperatorTypes();
		op = std::move(final_limit);
		return computes ? placement.Project(op, FirstColumns(*op, names.size()), names, std::move(result)) : result;
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
