#pragma once

#include "duckdb/planner/logical_operator.hpp"
#include "planner/planner_options.hpp"

#include <functional>
#include <memory>
#include <string>

namespace skein {

class LogicalDistributedLeaf;

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

//! Makes exactly as many variants of a leaf as there are tasks.
using MakeLeafVariants = std::function<std::vector<LeafVariant>(size_t tasks)>;

//! Lets `node`, which DistributeLeaf() has made of a leaf of a built-in estimate, have the variants that `make` makes.
//! `context` and `options` live as long.
void DealLeaf(duckdb::ClientContext &context, const PlannerOptions &options, LogicalDistributedLeaf &node,
			  const EstimatedLeaf &estimated, MakeLeafVariants make);

} // namespace skein
