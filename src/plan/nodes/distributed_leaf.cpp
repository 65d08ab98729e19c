#include "plan/nodes/distributed_leaf.hpp"

namespace skein {

using namespace duckdb;

LogicalDistributedLeaf::LogicalDistributedLeaf(unique_ptr<LogicalOperator> leaf_p) : leaf(std::move(leaf_p)) {
	estimated_cardinality = leaf->estimated_cardinality;
	has_estimated_cardinality = leaf->has_estimated_cardinality;
	types = leaf->types;
}

PhysicalOperator &LogicalDistributedLeaf::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	throw InternalException("A leaf for all tasks was left in a plan that is executed");
}

} // namespace skein
