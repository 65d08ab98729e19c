#pragma once

#include "plan/planned_operator.hpp"

#include <cstdint>
#include <vector>

namespace skein {

//! Adds what the tasks of a stage reported to the operators that the planner made.
//!
//! A task reports in the pre-order of its own plan, which is not the stage's: in the place of a DistributedLeaf it has
//! one variant, in the place of a union the parts that it was dealt. So the planned stage is walked once for every
//! task, along that task's way; an operator that was not on it gets nothing from that task.
//!
//!     Stage                     Task 1 of 3                        Stage
//!       Union t0:[c0(0/2)]        Projection    -> 5 rows            Union            t1: 5 rows
//!             t1:[c0(1/2)]          Get piece 1 -> 5 rows     =>       Leaf           t1: 5 rows
//!             t2:[c1]                                                  Aggregate
//!         Leaf                                                           Leaf
//!         Aggregate
//!           Leaf
class StageMetricsRewriter {
public:
	//! `root` is what the stage's sink stands on; it must outlive the rewriter.
	explicit StageMetricsRewriter(PlannedOperator &root) : root_(root) {
	}

	//! `operators` begins with the root: without the sink. A task of which nothing is known adds nothing. Throws
	//! duckdb::SerializationException if a plan of another shape was reported.
	void AddTask(uint32_t task, const std::vector<OperatorMetrics> &operators);

private:
	PlannedOperator &root_;
};

} // namespace skein
