#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace skein {

//! Names one attempt of a query: all that a node keeps for it is kept for one attempt, and goes with it.
struct AttemptKey {
	std::string query;
	uint32_t attempt = 0;

	auto operator<=>(const AttemptKey &) const = default;
};

//! Names one attempt of one task of one query; unique in a cluster.
struct TaskKey {
	std::string query;
	uint32_t stage = 0;
	uint32_t task = 0;
	uint32_t attempt = 0;

	auto operator<=>(const TaskKey &) const = default;
	AttemptKey Attempt() const {
		return {query, attempt};
	}
	//! As a user reads it: `stage 2, task 0`.
	std::string ToString() const {
		return "stage " + std::to_string(stage) + ", task " + std::to_string(task);
	}
};

//! Names what one consumer task reads of one producer task: a partition of one of its outputs.
struct PartitionKey {
	TaskKey task;
	uint32_t output = 0;
	uint32_t partition = 0;

	auto operator<=>(const PartitionKey &) const = default;
};

} // namespace skein
