#pragma once

#include "coordinator/run_options.hpp"
#include "duckdb.hpp"
#include "planner/planner_options.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <string>

namespace skein {

//! The session's settings `skein_*`, parsed.
struct Settings {
	Mode mode = Mode::AUTO;
	JoinStrategy join = JoinStrategy::AUTO;
	std::string cluster;
	uint64_t workers = 0;
	uint64_t max_tasks = 0;
	uint64_t bytes_per_task = 0;
	uint64_t broadcast_limit = 0;
	uint64_t page_bytes = 0;
	uint64_t buffer_bytes = 0;
	Retry retry = Retry::QUERY;
	LinkCompression compression = LinkCompression::AUTO;
	WorkStealing work_stealing = WorkStealing::AUTO;
	UnitDelays unit_delays;
	std::chrono::milliseconds query_timeout{0};
	LinkOptions link;
	//! Empty: nothing is traced.
	std::string trace_endpoint;
	//! As in the header `traceparent` of W3C.
	std::string trace_parent;

	static Settings Read(duckdb::ClientContext &context);
};

//! Declares the settings; a value that makes no sense is refused when it is set.
void RegisterSettings(duckdb::DBConfig &config);

//! The session's settings that change what an expression returns, as far as the user has set them, by name.
std::vector<std::pair<std::string, std::string>> TravellingSettings(duckdb::ClientContext &context);

} // namespace skein
