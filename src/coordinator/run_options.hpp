#pragma once

#include "engine/remote_files.hpp"
#include "exchange/link_compression.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace skein {

//! What is done when a worker is lost.
enum class Retry {
	NONE,
	//! All tasks run again on the workers that are left, as long as the head has not read any row.
	QUERY
};

//! For tests: how much longer each unit of a task takes, in every stage.
struct UnitDelays {
	std::chrono::microseconds of_each{0};
	uint32_t slow_task = 0;
	std::chrono::microseconds of_slow_task{0};
};

struct RunOptions {
	uint64_t page_bytes = uint64_t(1) << 20;
	uint64_t buffer_bytes = uint64_t(256) << 20;
	Retry retry = Retry::NONE;
	LinkCompression compression = LinkCompression::AUTO;
	//! The tasks report what each of their operators did.
	bool profile = false;
	//! Tasks give units to one another also where there is hardly anything to gain.
	bool always_share_units = false;
	//! They do not, though the plan lets them.
	bool never_share_units = false;
	UnitDelays unit_delays;
	//! Unset: the tasks read no files of other machines.
	std::optional<RemoteAccess> remote_access;
};

} // namespace skein
