#include "wire/messages/status_codec.hpp"

#include <algorithm>

namespace skein {

namespace {

void EncodeTask(const WorkerTaskStatus &task, wire::Status::Task &target) {
	target.set_stage(task.stage);
	target.set_task(task.task);
	target.set_state(task.state);
	for (auto input : task.inputs) {
		target.add_inputs(input);
	}
	target.set_output_rows(task.output_rows);
	target.set_output_bytes(task.output_bytes);
	target.set_link_bytes(task.link_bytes);
	target.set_wall_micros(task.wall_micros);
	if (task.queue_micros) {
		target.set_queue_micros(*task.queue_micros);
	}
	if (task.units_read) {
		target.set_units_read(*task.units_read);
	}
}

WorkerTaskStatus DecodeTask(const wire::Status::Task &source) {
	WorkerTaskStatus task;
	task.stage = source.stage();
	task.task = source.task();
	task.state = source.state();
	task.inputs.assign(source.inputs().begin(), source.inputs().end());
	task.output_rows = source.output_rows();
	task.output_bytes = source.output_bytes();
	task.link_bytes = source.link_bytes();
	task.wall_micros = source.wall_micros();
	if (source.has_queue_micros()) {
		task.queue_micros = source.queue_micros();
	}
	if (source.has_units_read()) {
		task.units_read = source.units_read();
	}
	return task;
}

} // namespace

void EncodeStatus(const WorkerStatus &status, wire::Status &target) {
	target.set_skein_version(status.skein_version);
	target.set_engine_version(status.engine_version);
	target.set_stopping(status.stopping);
	target.set_slots(status.slots);
	target.set_threads(status.threads);
	target.set_running_tasks(status.running_tasks);
	target.set_waiting_tasks(status.waiting_tasks);
	target.set_memory_used(status.memory_used);
	target.set_memory_limit(status.memory_limit);
	target.set_spilled(status.spilled);
	target.set_queries(status.queries);
	target.set_finished_tasks(status.finished_tasks);
	target.set_failed_tasks(status.failed_tasks);
	target.set_cancelled_tasks(status.cancelled_tasks);
	target.set_output_rows(status.output_rows);
	target.set_output_bytes(status.output_bytes);
	target.set_link_bytes(status.link_bytes);
	target.set_exchange_sent_bytes(status.exchange_sent_bytes);
	target.set_exchange_received_bytes(status.exchange_received_bytes);
	for (auto count : status.task_durations.count) {
		target.add_task_durations(count);
	}
	target.set_task_micros(status.task_durations.total_micros);
	for (auto &query : status.running_queries) {
		auto &running = *target.add_running_queries();
		running.set_query(query.query);
		running.set_attempt(query.attempt);
		running.set_running_tasks(query.running_tasks);
		running.set_waiting_tasks(query.waiting_tasks);
		running.set_age_micros(query.age_micros);
	}
	for (auto &extension : status.extensions) {
		target.add_extensions(extension);
	}
	for (auto &task : status.tasks) {
		EncodeTask(task, *target.add_tasks());
	}
}

WorkerStatus DecodeStatus(const wire::Status &source) {
	WorkerStatus status;
	status.skein_version = source.skein_version();
	status.engine_version = source.engine_version();
	status.stopping = source.stopping();
	status.slots = source.slots();
	status.threads = source.threads();
	status.running_tasks = source.running_tasks();
	status.waiting_tasks = source.waiting_tasks();
	status.memory_used = source.memory_used();
	status.memory_limit = source.memory_limit();
	status.spilled = source.spilled();
	status.queries = source.queries();
	status.finished_tasks = source.finished_tasks();
	status.failed_tasks = source.failed_tasks();
	status.cancelled_tasks = source.cancelled_tasks();
	status.output_rows = source.output_rows();
	status.output_bytes = source.output_bytes();
	status.link_bytes = source.link_bytes();
	status.exchange_sent_bytes = source.exchange_sent_bytes();
	status.exchange_received_bytes = source.exchange_received_bytes();
	auto &counts = status.task_durations.count;
	std::copy_n(source.task_durations().begin(),
				std::min(counts.size(), static_cast<size_t>(source.task_durations_size())), counts.begin());
	status.task_durations.total_micros = source.task_micros();
	for (auto &running : source.running_queries()) {
		status.running_queries.push_back({running.query(), running.attempt(), running.running_tasks(),
										  running.waiting_tasks(), running.age_micros()});
	}
	status.extensions.assign(source.extensions().begin(), source.extensions().end());
	for (auto &task : source.tasks()) {
		status.tasks.push_back(DecodeTask(task));
	}
	return status;
}

} // namespace skein
