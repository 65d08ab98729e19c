#pragma once

#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "planner/planner_options.hpp"

namespace skein {

//! Whether a part of a plan reads other stages.
bool HasBoundary(const duckdb::LogicalOperator &op);

//! How many tasks the leaves of a stage want, up to options.max_tasks; at least 1.
duckdb::idx_t WantedTasks(duckdb::LogicalOperator &op, const PlannerOptions &options);

//! Makes the variants of all leaves of a stage with `tasks` tasks, and deals the tasks of its unions.
void ScaleLeaves(duckdb::LogicalOperator &op, duckdb::idx_t tasks);

} // namespace skein
