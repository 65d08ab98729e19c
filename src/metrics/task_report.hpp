#pragma once

#include <cstdint>
#include <string>

namespace skein {

//! What a worker said of a task when it ended.
struct TaskReport {
	uint32_t stage = 0;
	uint32_t task = 0;
	std::string worker;
	//! Sent to the consumers; rows of a broadcast once per consumer task.
	uint64_t output_rows = 0;
	uint64_t output_bytes = 0;
	//! What of it went to other processes, as it was sent: compressed, if it was. Known when the query has ended.
	uint64_t link_bytes = 0;
	//! From the arrival of the plan to the end of the task, microseconds.
	uint64_t wall_micros = 0;
};

} // namespace skein
