#include "planner/leaf/built_in_estimate.hpp"

#include "planner/leaf/range_estimate.hpp"
#include "planner/leaf/scan_leaf.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! What EXPLAIN says of a variant is cut anyway.
constexpr size_t MAX_FILES_DESCRIBED = 16;

//! The file of which most is read; among equals the first.
string MainFile(const ScanLeaf &leaf, const vector<ScanUnit> &units) {
	size_t best = 0;
	idx_t best_bytes = 0;
	idx_t bytes = 0;
	for (size_t i = 0; i < units.size(); i++) {
		bytes = (i > 0 && units[i].file == units[i - 1].file ? bytes : 0) + units[i].bytes;
		if (bytes > best_bytes) {
			best = i;
			best_bytes = bytes;
		}
	}
	return units.empty() ? string() : leaf.OpenPath(units[best].file);
}

class ScanEstimate final : public LeafEstimate {
public:
	ScanEstimate(const LeafQuestion &question, std::shared_ptr<const ScanLeaf> leaf, bool as_often_as_allowed)
		: context_(question.context), get_(question.leaf.Cast<LogicalGet>()), leaf_(std::move(leaf)) {
		tasks_.maximum = std::max<size_t>(1, leaf_->units.size());
		auto by_bytes = (leaf_->total_bytes + question.bytes_per_task - 1) / question.bytes_per_task;
		tasks_.desired = as_often_as_allowed ? question.max_tasks : by_bytes;
	}

	TaskCount Tasks() const override {
		return tasks_;
	}
	uint64_t Bytes() const override {
		return leaf_->total_bytes;
	}
	std::vector<LeafVariant> MakeVariants(size_t tasks) override {
		std::vector<LeafVariant> result;
		for (auto &units : DealUnits(leaf_->units, tasks)) {
			LeafVariant variant;
			variant.plan = leaf_->MakeVariant(context_, get_, units);
			variant.text = leaf_->Describe(units, MAX_FILES_DESCRIBED);
			idx_t rows = 0;
			for (auto &unit : units) {
				rows += unit.rows;
				variant.bytes += unit.bytes;
			}
			if (leaf_->KnowsRows()) {
				variant.rows = rows;
			}
			variant.cache_key = MainFile(*leaf_, units);
			result.push_back(std::move(variant));
		}
		return result;
	}
	bool MayRepeat() const override {
		return true;
	}

private:
	ClientContext &context_;
	const LogicalGet &get_;
	const std::shared_ptr<const ScanLeaf> leaf_;
	TaskCount tasks_;
};

} // namespace

std::unique_ptr<LeafEstimate> EstimateBuiltIn(const LeafQuestion &question, bool as_often_as_allowed,
											  FooterCache *footers, string &reason) {
	if (question.leaf.type != LogicalOperatorType::LOGICAL_GET) {
		reason = question.leaf.GetName() + " is not distributed";
		return nullptr;
	}
	auto &get = question.leaf.Cast<LogicalGet>();
	if (auto range = EstimateRange(question, get, as_often_as_allowed, reason)) {
		return range;
	}
	if (!reason.empty()) {
		return nullptr;
	}
	auto leaf = AnalyzeScan(question.context, get, reason, footers);
	return leaf ? std::make_unique<ScanEstimate>(question, std::move(leaf), as_often_as_allowed) : nullptr;
}

} // namespace skein
