#include "planner/shared_leaves.hpp"

#include "engine/slice_units.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! A share of so few bytes is read before anybody could help.
constexpr idx_t SMALL_SHARE = idx_t(256) << 10;

//! Finds the leaves of a stage that tasks share, and what each task was dealt of them.
class SharedLeafFinder {
public:
	SharedLeafFinder(idx_t tasks, WorkStealing stealing) : tasks_(tasks), stealing_(stealing) {
	}

	//! What piece `share` of the leaves under `op` has is dealt to task `task`.
	void Visit(LogicalOperator &op, idx_t task, idx_t share) {
		if (auto leaf = dynamic_cast<LogicalDistributedLeaf *>(&op)) {
			Count(*leaf, task, share);
			return;
		}
		if (op.type == LogicalOperatorType::LOGICAL_RECURSIVE_CTE) {
			// What it reads, it may read many times.
			return;
		}
		if (auto node = dynamic_cast<LogicalChildrenIsolatorUnion *>(&op)) {
			for (auto &part : node->PartsOf(share)) {
				auto &isolated = node->isolated;
				auto is_isolated = std::find(isolated.begin(), isolated.end(), part.child) != isolated.end();
				Visit(*node->children[part.child], task, is_isolated ? part.share : share);
			}
			return;
		}
		for (auto &child : op.children) {
			Visit(*child, task, share);
		}
	}

	std::vector<SharedLeaf> Leaves() {
		return std::move(leaves_);
	}

private:
	void Count(LogicalDistributedLeaf &leaf, idx_t task, idx_t share) {
		auto known = numbers_.find(&leaf);
		if (known == numbers_.end()) {
			known = numbers_.emplace(&leaf, MayShare(leaf) ? optional_idx(Add(leaf)) : optional_idx()).first;
		}
		if (known->second.IsValid()) {
			leaves_[known->second.GetIndex()].units[task] = UnitsOf(leaf, share);
		}
	}

	bool MayShare(LogicalDistributedLeaf &leaf) const {
		if (leaf.replicated || !leaf.dealt_by.empty() || leaf.variants.size() < 2) {
			return false;
		}
		auto worth_it = stealing_ == WorkStealing::FORCE;
		for (idx_t i = 0; i < leaf.variants.size(); i++) {
			auto &summary = leaf.summaries[i];
			if (!SliceUnits::OfScan(*leaf.variants[i]) || !summary.worker.empty()) {
				return false;
			}
			worth_it = worth_it || (UnitsOf(leaf, i) > 1 && summary.bytes >= SMALL_SHARE);
		}
		return worth_it;
	}

	static idx_t UnitsOf(LogicalDistributedLeaf &leaf, idx_t variant) {
		return SliceUnits::OfScan(*leaf.variants[variant])->UnitCount();
	}

	idx_t Add(LogicalDistributedLeaf &leaf) {
		auto number = leaves_.size();
		leaves_.push_back({number, std::vector<uint64_t>(tasks_)});
		for (auto &variant : leaf.variants) {
			SliceUnits::OfScan(*variant)->leaf = number;
		}
		return number;
	}

	const idx_t tasks_;
	const WorkStealing stealing_;
	std::vector<SharedLeaf> leaves_;
	//! Invalid: of one that is not shared.
	std::map<const LogicalDistributedLeaf *, optional_idx> numbers_;
};

} // namespace

std::vector<SharedLeaf> ShareLeaves(StageDraft &stage, WorkStealing stealing) {
	auto in_order = std::any_of(stage.outputs.begin(), stage.outputs.end(), [](auto &it) { return it.in_order; });
	if (stealing == WorkStealing::OFF || stage.in_session || stage.tasks < 2 || in_order) {
		return {};
	}
	SharedLeafFinder finder(stage.tasks, stealing);
	for (idx_t task = 0; task < stage.tasks; task++) {
		finder.Visit(*stage.root, task, task);
	}
	return finder.Leaves();
}

} // namespace skein
