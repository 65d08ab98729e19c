#include "planner/partition_dealing.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Reads a leaf that a task estimator divides in all tasks, and every other one where the session can read it.
//!
//!     Get[parquet files]   =>   DistributedLeaf[t0: row groups 0..3, t1: row groups 4..7, ...]
//!     Get[csv files]       =>   DistributedLeaf[t0: files 0..3, t1: files 4..7, ...]
//!     Get[session's table] =>   NetworkShuffle[in turn]        (forced, if no order is to be kept)
//!                                 Get[session's table]
class ScanRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return IsSourceLeaf(op);
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &estimated = placement.Estimate(*op);
		if (!estimated.estimate) {
			return PlaceInSession(placement, op, keep_order, estimated.reason);
		}
		auto distribution = Distribution::Arbitrary();
		distribution.in_order = estimated.estimate->KeepsOrder();
		op = DistributeLeaf(placement.Context(), std::move(op), estimated, placement.Options());
		distribution.offer = OfferOf(dynamic_cast<LogicalDistributedLeaf &>(*op), estimated);
		return distribution;
	}

private:
	static Distribution PlaceInSession(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order,
									   const string &reason) {
		placement.AddReason(reason);
		if (placement.Options().deal_session_rows && !keep_order) {
			return placement.Deal(op);
		}
		auto result = Distribution::Single();
		result.session = true;
		result.in_order = true;
		return result;
	}
};

} // namespace

unique_ptr<PlacementRule> MakeScanRule() {
	return make_uniq<ScanRule>();
}

} // namespace skein
