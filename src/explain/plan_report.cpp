#include "explain/plan_report.hpp"

#include "metrics/stage_metrics_rewriter.hpp"

#include <algorithm>

namespace skein {

namespace {

void AddReport(const TaskReport &task, PlannedOperator &root, StageReport &stage) {
	if (!task.operators.empty()) {
		stage.sink[task.task] = task.operators[0];
		StageMetricsRewriter(root).AddTask(task.task, {task.operators.begin() + 1, task.operators.end()});
	}
	stage.outputs.resize(std::max(stage.outputs.size(), task.outputs.size()));
	for (size_t output = 0; output < task.outputs.size(); output++) {
		stage.outputs[output].Add(task.outputs[output]);
	}
	stage.tasks.push_back(task);
}

} // namespace

OutputReport StageReport::Sent() const {
	OutputReport result;
	for (auto &output : outputs) {
		result.Add(output);
	}
	return result;
}

const TaskReport *StageReport::Slowest() const {
	auto slowest = std::max_element(tasks.begin(), tasks.end(), [](const TaskReport &left, const TaskReport &right) {
		return left.wall_micros < right.wall_micros;
	});
	return slowest == tasks.end() ? nullptr : &*slowest;
}

uint64_t StageReport::MedianMicros() const {
	std::vector<uint64_t> times;
	for (auto &task : tasks) {
		times.push_back(task.wall_micros);
	}
	std::sort(times.begin(), times.end());
	return times.empty() ? 0 : times[(times.size() - 1) / 2];
}

PlanReport ReportOf(const DistributedPlan &plan, const std::vector<TaskReport> &tasks,
					const std::vector<TaskReport> &session) {
	PlanReport result;
	result.outline = plan.outline;
	result.stages.resize(plan.stages.size());
	for (auto &task : tasks) {
		AddReport(task, result.outline.stages[task.stage - 1].root, result.stages[task.stage - 1]);
	}
	for (auto &task : session) {
		if (task.stage == 0) {
			StageMetricsRewriter(result.outline.head).AddTask(0, task.operators);
		} else {
			AddReport(task, result.outline.stages[task.stage - 1].root, result.stages[task.stage - 1]);
		}
	}
	for (auto &stage : result.stages) {
		std::sort(stage.tasks.begin(), stage.tasks.end(),
				  [](const TaskReport &left, const TaskReport &right) { return left.task < right.task; });
	}
	return result;
}

} // namespace skein
