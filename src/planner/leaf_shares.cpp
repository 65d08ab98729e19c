#include "planner/leaf_shares.hpp"

#include "exchange/logical_exchange.hpp"
#include "plan/nodes/exchange.hpp"

namespace skein {

using namespace duckdb;

namespace {

void CollectLeaves(LogicalOperator &op, vector<reference<LogicalDistributedLeaf>> &leaves) {
	if (auto leaf = dynamic_cast<LogicalDistributedLeaf *>(&op)) {
		leaves.push_back(*leaf);
	}
	for (auto &child : op.children) {
		CollectLeaves(*child, leaves);
	}
}

idx_t LeafWants(const LogicalDistributedLeaf &leaf) {
	return leaf.replicated ? 1 : std::max<idx_t>(1, std::min(leaf.desired_tasks, leaf.max_tasks));
}

//! What the tasks of a union have to know of an isolated child: its leaf that is divided.
UnionChild DescribeChild(LogicalOperator &op) {
	vector<reference<LogicalDistributedLeaf>> leaves;
	CollectLeaves(op, leaves);
	UnionChild result{0, 1};
	for (auto &leaf : leaves) {
		result.weight += leaf.get().total_bytes;
		if (!leaf.get().replicated) {
			result.max_shares = std::max(result.max_shares, leaf.get().max_tasks);
		}
	}
	return result;
}

void ScaleUnion(LogicalChildrenIsolatorUnion &node, idx_t tasks) {
	vector<UnionChild> children;
	for (auto child : node.isolated) {
		children.push_back(DescribeChild(*node.children[child]));
	}
	node.parts = DealUnionTasks(children, tasks);
	vector<idx_t> shares(node.children.size(), 1);
	for (auto &parts : node.parts) {
		for (auto &part : parts) {
			part.child = node.isolated[part.child];
			shares[part.child] = part.shares;
		}
	}
	for (idx_t child = 0; child < node.children.size(); child++) {
		auto isolated = std::find(node.isolated.begin(), node.isolated.end(), child) != node.isolated.end();
		ScaleLeaves(*node.children[child], isolated ? shares[child] : tasks);
	}
}

} // namespace

bool HasBoundary(const LogicalOperator &op) {
	if (LogicalExchange::From(const_cast<LogicalOperator &>(op))) {
		return true;
	}
	for (auto &child : op.children) {
		if (HasBoundary(*child)) {
			return true;
		}
	}
	return false;
}

idx_t WantedTasks(LogicalOperator &op, const PlannerOptions &options) {
	if (auto leaf = dynamic_cast<LogicalDistributedLeaf *>(&op)) {
		return std::min(LeafWants(*leaf), options.max_tasks);
	}
	auto sum = dynamic_cast<LogicalChildrenIsolatorUnion *>(&op) != nullptr;
	idx_t wanted = 1;
	idx_t total = 0;
	for (auto &child : op.children) {
		auto wants = WantedTasks(*child, options);
		wanted = std::max(wanted, wants);
		total += wants;
	}
	return std::min(sum ? total : wanted, options.max_tasks);
}

void ScaleLeaves(LogicalOperator &op, idx_t tasks) {
	if (auto leaf = dynamic_cast<LogicalDistributedLeaf *>(&op)) {
		leaf->make_variants(*leaf, tasks);
		return;
	}
	if (auto node = dynamic_cast<LogicalChildrenIsolatorUnion *>(&op)) {
		ScaleUnion(*node, tasks);
		return;
	}
	for (auto &child : op.children) {
		ScaleLeaves(*child, tasks);
	}
}

} // namespace skein
