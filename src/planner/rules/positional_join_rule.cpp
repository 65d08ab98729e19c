#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A positional join pairs the rows of both sides by their place: it reads both in DuckDB's order, in one task.
//!
//!     PositionalJoin          PositionalJoin
//!       a               =>      NetworkCoalesce[in order]
//!       b                         a
//!                               NetworkCoalesce[in order]
//!                                 b
class PositionalJoinRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_POSITIONAL_JOIN;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		return placement.PlaceInOneTask(op, /*keep_order=*/true, "a positional join runs in one task");
	}
};

} // namespace

unique_ptr<PlacementRule> MakePositionalJoinRule() {
	return make_uniq<PositionalJoinRule>();
}

} // namespace skein
