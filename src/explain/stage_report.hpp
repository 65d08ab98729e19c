#pragma once

#include "metrics/task_report.hpp"
#include "plan/distributed_plan.hpp"

#include <vector>

namespace skein {

//! The stages of an executed plan: its EXPLAIN text, with what the tasks of each stage reported in the stage's title,
//! and below it one line for every task.
std::string StageReport(const DistributedPlan &plan, const std::vector<TaskReport> &tasks);

} // namespace skein
