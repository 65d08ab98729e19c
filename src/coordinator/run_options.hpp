#pragma once

#include "exchange/link_compression.hpp"

#include <chrono>
#include <cstdint>

namespace skein {

//! What is done when a worker is lost.
enum class Retry {
	NONE,
	//! All tasks run again on the workers that are left, as long as the head has not read any row.
	QUERY
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
	//! For tests: so long each unit of this task takes longer, in every stage.
	uint32_t slow_task = 0;
	std::chrono::microseconds unit_delay{0};
};

} // namespace skein
