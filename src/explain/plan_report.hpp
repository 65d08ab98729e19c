#pragma once

#include "metrics/task_report.hpp"
#include "plan/distributed_plan.hpp"

#include <vector>

namespace skein {

//! What a stage of an executed plan did.
struct StageReport {
	//! What its sinks did, by task.
	std::map<uint32_t, OperatorMetrics> sink;
	//! Of all its tasks together, by output.
	std::vector<OutputReport> outputs;
	//! Those that have reported, by task. A stage in the session has one, without a worker.
	std::vector<TaskReport> tasks;

	OutputReport Sent() const;
	//! The task that took longest; nullptr if none has reported.
	const TaskReport *Slowest() const;
	//! Of the times of its tasks; of an even number the lower of the two in the middle.
	uint64_t MedianMicros() const;
};

//! An executed plan with what its tasks reported.
struct PlanReport {
	//! With the numbers of the tasks in its operators.
	PlanOutline outline;
	//! By id, from 1, as in the outline.
	std::vector<StageReport> stages;
	//! How often the query was begun again as workers were lost. The tasks are those of the last attempt.
	uint32_t retries = 0;
};

//! `tasks`: of the workers. `session`: of the head, as stage 0, and of the stages in the session.
PlanReport ReportOf(const DistributedPlan &plan, const std::vector<TaskReport> &tasks,
					const std::vector<TaskReport> &session);

} // namespace skein
