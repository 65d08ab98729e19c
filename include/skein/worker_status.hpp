#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skein {

//! What runs of one query on one worker.
struct WorkerQueryStatus {
	std::string query;
	uint32_t attempt = 0;
	uint32_t running_tasks = 0;
	uint32_t waiting_tasks = 0;
	//! Since the worker got its tasks, microseconds.
	uint64_t age_micros = 0;
};

//! One task of a query on one worker.
struct WorkerTaskStatus {
	uint32_t stage = 0;
	uint32_t task = 0;
	//! waiting (for a slot), running, finished, cancelled, failed.
	std::string state;
	//! The stages that it reads.
	std::vector<uint32_t> inputs;
	//! What it has put out up to now; what of it went to other processes, as it was sent.
	uint64_t output_rows = 0;
	uint64_t output_bytes = 0;
	uint64_t link_bytes = 0;
	//! Since its plan arrived, up to its end; of one that has ended: how much of that it waited for its start.
	uint64_t wall_micros = 0;
	std::optional<uint64_t> queue_micros;
	//! Read of leaves whose units tasks share.
	std::optional<uint64_t> units_read;
};

//! How many tasks took how long: count[i] of at most LIMITS_SECONDS[i], the last of more than all.
struct TaskDurations {
	static constexpr std::array<double, 8> LIMITS_SECONDS{0.001, 0.01, 0.1, 0.5, 1, 5, 30, 300};
	std::array<uint64_t, LIMITS_SECONDS.size() + 1> count{};
	uint64_t total_micros = 0;
};

//! The messages that come to a worker, by what they ask for.
enum class MessageKind { START_TASKS, END_QUERY, SUBSCRIBE, CREDIT, PAGE, OTHER };
constexpr size_t MESSAGE_KIND_COUNT = 6;

//! How many messages of a kind took how long, from their arrival until they had been handled: as TaskDurations.
struct MessageDurations {
	static constexpr std::array<double, 7> LIMITS_SECONDS{0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10};
	std::array<uint64_t, LIMITS_SECONDS.size() + 1> count{};
	uint64_t total_micros = 0;
};

//! What a worker says of itself. Counts are since its start, sizes in bytes.
struct WorkerStatus {
	std::string skein_version;
	std::string engine_version;
	//! Of DuckDB, those that are loaded.
	std::vector<std::string> extensions;
	bool stopping = false;
	//! Most tasks that run at a time; 0: no limit.
	uint32_t slots = 0;
	uint32_t threads = 0;
	uint32_t running_tasks = 0;
	uint32_t waiting_tasks = 0;
	uint64_t memory_used = 0;
	uint64_t memory_limit = 0;
	//! In temporary files.
	uint64_t spilled = 0;
	uint64_t queries = 0;
	uint64_t finished_tasks = 0;
	uint64_t failed_tasks = 0;
	uint64_t cancelled_tasks = 0;
	//! Rows and bytes that ended tasks have put out, and what of queries that have ended went to other processes.
	uint64_t output_rows = 0;
	uint64_t output_bytes = 0;
	uint64_t link_bytes = 0;
	TaskDurations task_durations;
	//! What has gone to other processes and come from them up to now, of all queries: pages, as they were sent.
	uint64_t exchange_sent_bytes = 0;
	uint64_t exchange_received_bytes = 0;
	//! By MessageKind. Only of a worker in this process; others do not send it.
	std::array<MessageDurations, MESSAGE_KIND_COUNT> message_durations{};
	std::vector<WorkerQueryStatus> running_queries;
	//! Of the query that was asked about, of its last attempt here.
	std::vector<WorkerTaskStatus> tasks;
};

} // namespace skein
