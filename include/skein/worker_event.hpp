#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace skein {

//! Something that happened on a worker, for its log.
struct WorkerEvent {
	enum class Kind { QUERY_STARTED, TASK_STARTED, TASK_ENDED, QUERY_ENDED };

	//! What a task that has ended did.
	struct TaskEnd {
		//! `finished`, `cancelled`, `failed`.
		std::string state;
		//! What went wrong; empty if nothing did.
		std::string error;
		//! What it put out.
		uint64_t rows = 0;
		uint64_t bytes = 0;
		//! Since its arrival, and what of it had gone by when it began.
		std::chrono::microseconds wall{0};
		std::chrono::microseconds queue{0};
	};

	Kind kind = Kind::QUERY_STARTED;
	std::string query;
	uint32_t attempt = 0;
	//! How many of the query's tasks this worker got; when it is started.
	std::optional<uint32_t> tasks;
	//! Of a task.
	std::optional<uint32_t> stage;
	std::optional<uint32_t> task;
	//! Of a task that has ended.
	std::optional<TaskEnd> end;
};

} // namespace skein
