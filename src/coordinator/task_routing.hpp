#pragma once

#include "plan/distributed_plan.hpp"

#include <string>
#include <vector>

namespace skein {

//! Chooses the worker of each task of `plan`: of stages[i] the positions in `workers`, by task; none for a stage in the
//! session. `workers` is not empty.
//!
//! A task whose estimator has chosen a worker runs there, if it is one of `workers`. Every other one goes to a worker
//! with the fewest tasks of its stage; of these, where not all can get one more, to one with the fewest tasks of the
//! query; of these to the one that its cache key prefers (rendezvous hashing: Thaler and Ravishankar, 1998), so that a
//! worker more or less moves few keys. Without a key equal task numbers meet on one worker, and stages of one task go
//! round.
std::vector<std::vector<size_t>> RouteTasks(const DistributedPlan &plan, const std::vector<std::string> &workers);

} // namespace skein
