#pragma once

#include "duckdb.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace skein {

//! A task from inside, as its operators and functions see it.
struct RunningTask {
	//! The address of the worker that runs it, as the session knows it.
	std::string worker;
	uint32_t stage = 0;
	uint32_t task = 0;

	//! The task that runs in `context`; none in a session.
	static std::optional<RunningTask> In(duckdb::ClientContext &context);
};

} // namespace skein
