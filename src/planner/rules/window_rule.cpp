#include "duckdb/planner/expression/bound_window_expression.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The partition keys that all windows of an operator have in common, as they stand in the first.
vector<unique_ptr<Expression>> CommonPartitions(const LogicalOperator &op) {
	vector<unique_ptr<Expression>> result;
	for (auto &key : op.expressions[0]->Cast<BoundWindowExpression>().partitions) {
		auto everywhere = true;
		for (auto &expression : op.expressions) {
			auto &partitions = expression->Cast<BoundWindowExpression>().partitions;
			everywhere = everywhere && std::any_of(partitions.begin(), partitions.end(),
												   [&](auto &other) { return other->Equals(*key); });
		}
		if (everywhere) {
			result.push_back(key->Copy());
		}
	}
	return result;
}

//! Windows see all rows of their partition: rows are brought together by the partition keys that all windows share.
//!
//!     Window[partition by k]          Window[partition by k]
//!       ...                     =>      NetworkShuffle[k]
//!                                         ...
//!
//! Without such keys, or where the rows are to keep DuckDB's order, in one task.
class WindowRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_WINDOW;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &child = op->children[0];
		// Without ORDER BY inside, a window numbers the rows as they come.
		auto ordered = placement.Options().preserve_order;
		for (auto &expression : op->expressions) {
			ordered = ordered && expression->Cast<BoundWindowExpression>().orders.empty();
		}
		auto below = placement.Place(child, keep_order || ordered);
		if (!below.IsSpread()) {
			return below;
		}
		auto keys = CommonPartitions(*op);
		vector<ColumnBinding> columns;
		for (auto &key : keys) {
			if (key->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
				columns.push_back(key->Cast<BoundColumnRefExpression>().binding);
			}
		}
		if (below.pinned || Rename(below, columns, columns).kind == DistributionKind::HASH) {
			below.in_order = false;
			return below;
		}
		if (keys.empty() || keep_order || ordered) {
			placement.AddReason("a window over all rows, or in their order, is computed in one task");
			return placement.Coalesce(child, below);
		}
		return placement.Shuffle(child, std::move(keys));
	}
};

} // namespace

unique_ptr<PlacementRule> MakeWindowRule() {
	return make_uniq<WindowRule>();
}

} // namespace skein
