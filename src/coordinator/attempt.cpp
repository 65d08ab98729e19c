#include "coordinator/attempt.hpp"

#include "coordinator/run_options.hpp"
#include "coordinator/task_routing.hpp"
#include "exchange/node.hpp"

#include <algorithm>

namespace skein {

Attempt::Attempt(std::shared_ptr<const DistributedPlan> plan, AttemptKey key, std::vector<std::string> workers)
	: plan_(std::move(plan)), key_(std::move(key)), workers_(std::move(workers)),
	  routes_(RouteTasks(*plan_, workers_)) {
	for (auto &stage : plan_->stages) {
		for (uint32_t task = 0; !stage.in_session && task < stage.tasks; task++) {
			used_workers_.insert(WorkerOf(stage.id, task));
			task_count_++;
		}
	}
}

std::string Attempt::WorkerOf(uint32_t stage, uint32_t task) const {
	if (plan_->stages[stage - 1].in_session) {
		return COORDINATOR_ADDRESS;
	}
	return workers_[routes_[stage - 1][task]];
}

std::vector<Producer> Attempt::ProducersOf(const StageInput &input) const {
	std::vector<Producer> producers;
	for (uint32_t task = 0; task < plan_->stages[input.stage - 1].tasks; task++) {
		TaskKey key{key_.query, input.stage, task, key_.attempt};
		producers.push_back({WorkerOf(input.stage, task), {key, input.output, 0}});
	}
	return producers;
}

wire::Message Attempt::StartMessage(const std::string &worker, const RunOptions &options) const {
	wire::Message message;
	auto &start = *message.mutable_start_tasks();
	start.set_query(key_.query);
	start.set_attempt(key_.attempt);
	start.set_page_bytes(options.page_bytes);
	start.set_buffer_bytes(options.buffer_bytes);
	start.set_worker_name(worker);
	start.set_compression(static_cast<uint32_t>(options.compression));
	start.set_profile(options.profile);
	auto &stages = plan_->stages;
	if (std::any_of(stages.begin(), stages.end(), [](auto &it) { return !it.shared_leaves.empty(); })) {
		auto &sharing = *start.mutable_unit_sharing();
		sharing.set_always(options.always_share_units);
		sharing.set_never(options.never_share_units);
		auto &delays = options.unit_delays;
		sharing.set_slow_task(delays.slow_task);
		sharing.set_unit_delay_micros(static_cast<uint64_t>(delays.of_slow_task.count()));
		sharing.set_other_unit_delay_micros(static_cast<uint64_t>(delays.of_each.count()));
	}
	for (auto &setting : plan_->settings) {
		auto &target = *start.add_settings();
		target.set_name(setting.first);
		target.set_value(setting.second);
	}
	if (options.remote_access) {
		auto &access = *start.mutable_remote_access();
		access.set_secrets(options.remote_access->secrets);
		for (auto &setting : options.remote_access->settings) {
			auto &target = *access.add_settings();
			target.set_name(setting.first);
			target.set_value(setting.second);
		}
	}
	for (auto &stage : plan_->stages) {
		for (uint32_t number = 0; !stage.in_session && number < stage.tasks; number++) {
			if (WorkerOf(stage.id, number) == worker) {
				AddTask(stage, number, start);
			}
		}
	}
	return message;
}

void Attempt::AddTask(const StagePlan &stage, uint32_t number, wire::StartTasks &start) const {
	auto &task = *start.add_tasks();
	task.set_stage(stage.id);
	task.set_task(number);
	task.set_plan(stage.task_plans[number]);
	for (auto &input : stage.inputs) {
		auto &producers = *task.add_inputs();
		producers.set_stage(input.stage);
		producers.set_output(input.output);
		for (uint32_t producer = 0; producer < plan_->stages[input.stage - 1].tasks; producer++) {
			producers.add_addresses(WorkerOf(input.stage, producer));
		}
	}
	for (auto &leaf : stage.shared_leaves) {
		uint64_t most = 0;
		for (uint32_t other = 0; other < leaf.units.size(); other++) {
			most = std::max(most, other == number ? 0 : leaf.units[other]);
		}
		task.add_most_units_of_others(most);
	}
	for (auto &output : stage.outputs) {
		task.add_output_partitions(output.partitions);
		task.add_output_unbounded(output.unbounded);
	}
}

} // namespace skein
