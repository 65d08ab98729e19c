#pragma once

#include "duckdb/planner/logical_operator.hpp"
#include "planner/planner_options.hpp"

#include <memory>
#include <string>

namespace skein {

//! What the task estimators say of a leaf.
struct EstimatedLeaf {
	//! nullptr if all of them decline.
	std::shared_ptr<LeafEstimate> estimate;
	//! The name of the user's estimator that it is of; empty: the built-in one.
	std::string estimator;
	//! Why the built-in one declines.
	std::string reason;
};

//! Asks the user's estimators in order, then the built-in one. `leaf` has no children, and neither moves nor changes
//! while the estimate is used.
EstimatedLeaf EstimateLeaf(duckdb::ClientContext &context, duckdb::LogicalOperator &leaf,
						   const PlannerOptions &options);

//! The leaf as a LogicalDistributedLeaf whose variants are the estimate's, checked. `options` lives as long.
//!
//!     Get   =>   DistributedLeaf[t0: variant 0, t1: variant 1, ...]
duckdb::unique_ptr<duckdb::LogicalOperator> DistributeLeaf(duckdb::ClientContext &context,
														   duckdb::unique_ptr<duckdb::LogicalOperator> leaf,
														   const EstimatedLeaf &estimated,
														   const PlannerOptions &options);

} // namespace skein
