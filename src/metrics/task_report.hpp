#pragma once

#include "engine/operator_metrics.hpp"
#include "engine/task_units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace skein {

//! What a task put out for one consumer stage; rows of a broadcast once per consumer task.
struct OutputReport {
	uint64_t rows = 0;
	uint64_t bytes = 0;
	//! What of it went to other processes, as it was sent: compressed, if it was. Known when the query has ended.
	uint64_t link_bytes = 0;
	//! Each is a message, if it goes to another process.
	uint64_t pages = 0;

	void Add(const OutputReport &other) {
		rows += other.rows;
		bytes += other.bytes;
		link_bytes += other.link_bytes;
		pages += other.pages;
	}
};

//! How a task ended.
enum class TaskState {
	//! It has put out all its rows, or all that its consumers wanted.
	FINISHED,
	//! Its rows were not needed any more, or another task had failed.
	CANCELLED,
	FAILED
};

inline const char *StateName(TaskState state) {
	switch (state) {
	case TaskState::FINISHED:
		return "finished";
	case TaskState::CANCELLED:
		return "cancelled";
	default:
		return "failed";
	}
}

//! What a worker said of a task when it ended.
struct TaskReport {
	uint32_t stage = 0;
	uint32_t task = 0;
	std::string worker;
	TaskState state = TaskState::FINISHED;
	//! By output of the stage.
	std::vector<OutputReport> outputs;
	//! From the arrival of the plan to the end of the task, and what of it had gone by when the task began,
	//! microseconds.
	uint64_t wall_micros = 0;
	uint64_t queue_micros = 0;
	//! When the coordinator heard of its end, since the start of the query's execution, microseconds.
	uint64_t ended_micros = 0;
	//! In pre-order of the task's plan, its sink first; only of a query that is profiled.
	std::vector<OperatorMetrics> operators;
	//! From files; only of a query that is profiled.
	uint64_t bytes_read = 0;
	//! Processor time of all its threads; only of a query that is profiled.
	uint64_t cpu_micros = 0;
	//! The most that its worker's DuckDB held while the task ran, for this task and others: of memory, and in temporary
	//! files; only of a query that is profiled.
	uint64_t peak_memory_bytes = 0;
	uint64_t peak_temp_bytes = 0;
	//! Of its leaves whose units tasks share; nothing if it has none.
	std::optional<UnitCounts> units;

	//! When it arrived at its worker, by the coordinator's clock, since the start of the execution.
	uint64_t StartedMicros() const {
		return ended_micros > wall_micros ? ended_micros - wall_micros : 0;
	}
	//! Over all outputs.
	OutputReport Sent() const {
		OutputReport result;
		for (auto &output : outputs) {
			result.Add(output);
		}
		return result;
	}
};

} // namespace skein
