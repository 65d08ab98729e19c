#include "duckdb/planner/operator/logical_limit.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! LIMIT: no task returns more rows than all together may; the offset is applied once, over the rows of all.
//!
//!     Limit[l, offset o]          Limit[l, offset o]
//!       ...                 =>      NetworkCoalesce
//!                                     Limit[l + o]
//!                                       ...
//!
//! The part below the boundary only if both are constant. The rows that LIMIT takes are the first in DuckDB's order
//! where that order is kept, so the order is always asked for.
class LimitRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_LIMIT;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &limit = op->Cast<LogicalLimit>();
		auto &child = limit.children[0];
		auto below = placement.Place(child, placement.Options().preserve_order);
		if (below.IsSingle()) {
			return below;
		}
		if (below.IsSpread() && !below.pinned && limit.limit_val.Type() == LimitNodeType::CONSTANT_VALUE &&
			limit.offset_val.Type() != LimitNodeType::EXPRESSION_VALUE) {
			auto offset =
				limit.offset_val.Type() == LimitNodeType::CONSTANT_VALUE ? limit.offset_val.GetConstantValue() : 0;
			auto rows = limit.limit_val.GetConstantValue();
			if (rows <= static_cast<idx_t>(NumericLimits<int64_t>::Maximum()) - offset) {
				auto partial = make_uniq<LogicalLimit>(
					BoundLimitNode::ConstantValue(static_cast<int64_t>(rows + offset)), BoundLimitNode());
				partial->children.push_back(std::move(child));
				partial->SetEstimatedCardinality(rows + offset);
				partial->ResolveOperatorTypes();
				child = std::move(partial);
			}
		}
		return placement.Coalesce(child, below);
	}
};

} // namespace

unique_ptr<PlacementRule> MakeLimitRule() {
	return make_uniq<LimitRule>();
}

} // namespace skein
