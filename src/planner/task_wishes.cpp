#include "planner/task_wishes.hpp"

#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! Walks what one task runs.
class WishFinder {
public:
	//! `share`: the piece of the leaves under `op` that is the task's.
	void Visit(LogicalOperator &op, idx_t share) {
		if (auto leaf = dynamic_cast<LogicalDistributedLeaf *>(&op)) {
			Add(*leaf, share);
		} else if (auto node = dynamic_cast<LogicalChildrenIsolatorUnion *>(&op)) {
			for (auto &part : node->PartsOf(share)) {
				auto isolated =
					std::find(node->isolated.begin(), node->isolated.end(), part.child) != node->isolated.end();
				Visit(*node->children[part.child], isolated ? part.share : share);
			}
		} else {
			for (auto &child : op.children) {
				Visit(*child, share);
			}
		}
	}

	TaskWish wish;

private:
	void Add(const LogicalDistributedLeaf &leaf, idx_t share) {
		if (leaf.replicated) {
			return;
		}
		auto &summary = leaf.summaries[share];
		Choose(summary.worker, summary.bytes, wish.worker, worker_bytes_);
		Choose(summary.cache_key, summary.bytes, wish.cache_key, key_bytes_);
	}
	static void Choose(const string &wanted, idx_t bytes, string &best, idx_t &best_bytes) {
		if (!wanted.empty() && (best.empty() || bytes > best_bytes)) {
			best = wanted;
			best_bytes = bytes;
		}
	}

	idx_t worker_bytes_ = 0;
	idx_t key_bytes_ = 0;
};

} // namespace

std::vector<TaskWish> WishesOf(LogicalOperator &root, idx_t tasks) {
	std::vector<TaskWish> result;
	for (idx_t task = 0; task < tasks; task++) {
		WishFinder finder;
		finder.Visit(root, task);
		result.push_back(std::move(finder.wish));
	}
	return result;
}

} // namespace skein
