#include "duckdb/planner/operator/logical_get.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "planner/leaf/scan_leaf.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! What EXPLAIN says of a variant is cut anyway.
constexpr size_t MAX_FILES_DESCRIBED = 16;

LogicalDistributedLeaf::VariantSummary Summarize(const ScanLeaf &leaf, const vector<ScanUnit> &units) {
	LogicalDistributedLeaf::VariantSummary summary{leaf.Describe(units, MAX_FILES_DESCRIBED), optional_idx(), 0};
	idx_t rows = 0;
	for (auto &unit : units) {
		rows += unit.rows;
		summary.bytes += unit.bytes;
	}
	if (leaf.KnowsRows()) {
		summary.rows = rows;
	}
	return summary;
}

//! Reads files in all tasks, and everything else where the session can read it.
//!
//!     Get[parquet files]   =>   DistributedLeaf[t0: row groups 0..3, t1: row groups 4..7, ...]
//!     Get[csv files]       =>   DistributedLeaf[t0: files 0..3, t1: files 4..7, ...]
//!     Get[native table]    =>   NetworkShuffle[in turn]        (forced, if no order is to be kept)
//!                                 Get[native table]
class ScanRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_GET && op.children.empty();
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &get = op->Cast<LogicalGet>();
		string reason;
		auto shared = placement.Analyze(get, reason);
		if (!shared) {
			return PlaceInSession(placement, op, keep_order, reason);
		}
		auto &context = placement.Context();
		auto result = make_uniq<LogicalDistributedLeaf>(std::move(op));
		result->can_replicate = true;
		result->max_tasks = std::max<idx_t>(1, shared->units.size());
		result->total_bytes = shared->total_bytes;
		result->make_variants = [&context, shared](LogicalDistributedLeaf &node, idx_t tasks) {
			auto &scan = node.leaf->Cast<LogicalGet>();
			auto dealt = node.replicated ? vector<vector<ScanUnit>>{shared->units} : DealUnits(shared->units, tasks);
			for (idx_t task = 0; task < tasks; task++) {
				vector<ScanUnit> units;
				if (node.replicated || task < dealt.size()) {
					units = dealt[node.replicated ? 0 : task];
				}
				node.variants.push_back(shared->MakeVariant(context, scan, units));
				node.summaries.push_back(Summarize(*shared, units));
			}
		};
		op = std::move(result);
		auto distribution = Distribution::Arbitrary();
		distribution.in_order = true;
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
