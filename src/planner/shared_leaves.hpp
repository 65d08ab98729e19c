#pragma once

#include "plan/distributed_plan.hpp"
#include "planner/planner_options.hpp"
#include "planner/stage_draft.hpp"

namespace skein {

//! Lets the tasks of a stage give units of its leaves to one another while they run, and returns the leaves.
//!
//! Applies to a leaf of slices that is divided among tasks, if every row may be in any task: nobody reads the stage in
//! order, it is not dealt by value, and no estimator has chosen the workers of its tasks. With WorkStealing::AUTO only
//! if a task has a share that takes some time and that can be divided. Keeps: the rows of all tasks together.
std::vector<SharedLeaf> ShareLeaves(StageDraft &stage, WorkStealing stealing);

} // namespace skein
