#include "duckdb/planner/operator/logical_set_operation.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "planner/leaf_shares.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! UNION ALL: the tasks of a stage are dealt to the children. UNION is the same: the duplicates go in a DISTINCT above.
//!
//!     UnionAll             DistributedUnion: t0:[c0(0/2)] t1:[c0(1/2)] t2:[c1]
//!       a         =>         a
//!       b                    b
//!
//! In a correlated subquery all children are where the rows are that it is about, and so is the union. Children in one
//! task are dealt row by row to all tasks first. Where the order of rows counts, each child is brought
//! to the one task that puts them one after the other.
class UnionRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_UNION;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &set_operation = op->Cast<LogicalSetOperation>();
		auto ordered = keep_order && placement.Options().preserve_order;
		vector<Distribution> places;
		auto spread = false;
		auto pinned = false;
		auto all_stay = true;
		for (auto &child : op->children) {
			places.push_back(placement.Place(child, keep_order));
			auto &place = places.back();
			spread = spread || place.IsSpread();
			pinned = pinned || place.pinned;
			all_stay = all_stay && place.pinned && place.IsSpread();
		}
		if (all_stay) {
			// Of a correlated subquery: each task has its own rows of every child.
			auto result = Distribution::Arbitrary();
			result.pinned = true;
			return result;
		}
		if (!spread || ordered || pinned) {
			return placement.BringTogether(*op, places);
		}
		for (idx_t i = 0; i < places.size(); i++) {
			if (!places[i].IsSpread()) {
				placement.Deal(op->children[i]);
			}
		}
		auto result = make_uniq<LogicalChildrenIsolatorUnion>(set_operation.table_index, std::move(op->children));
		result->SetEstimatedCardinality(set_operation.EstimateCardinality(placement.Context()));
		for (idx_t i = 0; i < result->children.size(); i++) {
			if (!HasBoundary(*result->children[i])) {
				result->isolated.push_back(i);
			}
		}
		op = std::move(result);
		return Distribution::Arbitrary();
	}
};

} // namespace

unique_ptr<PlacementRule> MakeUnionRule() {
	return make_uniq<UnionRule>();
}

} // namespace skein
