#include "duckdb/main/extension_manager.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/storage/buffer_manager.hpp"
#include "skein/version.hpp"
#include "worker/worker_service.hpp"

namespace skein {

using namespace duckdb;

namespace {

uint64_t MicrosSince(std::chrono::steady_clock::time_point then) {
	auto age = std::chrono::steady_clock::now() - then;
	return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(age).count());
}

} // namespace

std::vector<WorkerTaskStatus> WorkerService::TasksOf(const string &query_name) {
	std::vector<WorkerTaskStatus> result;
	std::shared_ptr<Query> query;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &[key, running] : queries_) {
			// The last attempt comes last.
			query = key.query == query_name ? running : query;
		}
	}
	if (!query) {
		return result;
	}
	auto waiting = admission_.WaitingOf(query->key);
	// Asked without a lock: they have their own.
	std::vector<duckdb::shared_ptr<TaskUnits>> units;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (query->tasks.empty()) {
			// Its tasks are still being made, or gone.
			return result;
		}
		for (auto &[number, part] : query->parts) {
			result.push_back(StatusLocked(*query, number, part));
			if (!part.end && waiting.count(number) > 0) {
				result.back().state = "waiting";
			}
			units.push_back(part.units);
		}
	}
	for (size_t i = 0; i < units.size(); i++) {
		if (auto counts = units[i] ? units[i]->Counts() : std::nullopt) {
			result[i].units_read = counts->read;
		}
	}
	return result;
}

WorkerTaskStatus WorkerService::StatusLocked(const Query &query, TaskNumber number, const Part &part) {
	WorkerTaskStatus task;
	task.stage = number.first;
	task.task = number.second;
	task.inputs = part.inputs;
	for (auto &output : part.channels->outputs) {
		task.output_rows += output->AppendedRows();
		task.output_bytes += output->AppendedBytes();
		task.link_bytes += output->LinkBytes();
	}
	if (part.end) {
		task.state = part.end->state;
		task.wall_micros = static_cast<uint64_t>(part.end->wall.count());
		task.queue_micros = static_cast<uint64_t>(part.end->queue.count());
	} else {
		task.state = "running";
		task.wall_micros = MicrosSince(query.started_at);
	}
	return task;
}

WorkerStatus WorkerService::Status(const string &tasks_of) {
	auto &buffers = BufferManager::GetBufferManager(db_);
	WorkerStatus status;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		status = done_;
		status.stopping = stopping_;
		for (auto &[key, query] : queries_) {
			status.running_queries.push_back(
				{key.query, key.attempt, static_cast<uint32_t>(query->running), 0, MicrosSince(query->started_at)});
		}
	}
	for (auto &query : status.running_queries) {
		query.waiting_tasks = static_cast<uint32_t>(admission_.WaitingOf({query.query, query.attempt}).size());
		query.running_tasks -= std::min(query.running_tasks, query.waiting_tasks);
	}
	status.tasks = TasksOf(tasks_of);
	status.skein_version = SKEIN_VERSION;
	status.engine_version = DuckDB::LibraryVersion();
	status.extensions = ExtensionManager::Get(db_).GetExtensions();
	status.slots = static_cast<uint32_t>(admission_.Slots());
	status.threads = static_cast<uint32_t>(TaskScheduler::GetScheduler(db_).NumberOfThreads());
	status.running_tasks = static_cast<uint32_t>(admission_.Running());
	status.waiting_tasks = static_cast<uint32_t>(admission_.Waiting());
	status.memory_used = buffers.GetUsedMemory();
	status.memory_limit = buffers.GetMaxMemory();
	status.spilled = buffers.GetUsedSwap();
	status.exchange_sent_bytes = node_.Exchange().SentBytes();
	status.exchange_received_bytes = node_.Exchange().ReceivedBytes();
	status.message_durations = node_.Messages().Read();
	return status;
}

} // namespace skein
