#include "duckdb/planner/operator/logical_distinct.hpp"
#include "plan/columns.hpp"
#include "planner/partition_dealing.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! DISTINCT: duplicates go in every task, then once more where equal rows have met.
//!
//!     Distinct[a, b]          Distinct[a, b]
//!       ...            =>       NetworkShuffle[a, b]
//!                                 Distinct[a, b]
//!                                   ...
//!
//! DISTINCT ON takes one row of each key: all rows of a key are brought together first. Without ORDER BY it is the
//! first one in DuckDB's order, which only one task knows.
class DistinctRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_DISTINCT;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &distinct = op->Cast<LogicalDistinct>();
		auto first_wins = distinct.distinct_type == DistinctType::DISTINCT_ON && !distinct.order_by;
		auto &child = distinct.children[0];
		auto below = placement.Place(child, first_wins && placement.Options().preserve_order,
									 Prefer(Columns(distinct.distinct_targets), placement.Preferred()));
		if (!below.IsSpread()) {
			below.in_order = below.in_order && first_wins;
			return below;
		}
		auto keys = CopyAll(distinct.distinct_targets);
		auto columns = Columns(keys);
		if (first_wins && placement.Options().preserve_order) {
			return placement.Coalesce(child, below);
		}
		auto in_place = Rename(below, columns, columns);
		if (below.pinned || in_place.IsPartitioned()) {
			return below;
		}
		if (KeepTogether(placement.Context(), placement.Options(), in_place)) {
			return in_place;
		}
		if (distinct.distinct_type == DistinctType::DISTINCT) {
			AddDistinct(child, CopyAll(distinct.distinct_targets), distinct.EstimateCardinality(placement.Context()));
		}
		return placement.Shuffle(child, std::move(keys));
	}
};

} // namespace

unique_ptr<PlacementRule> MakeDistinctRule() {
	return make_uniq<DistinctRule>();
}

} // namespace skein
