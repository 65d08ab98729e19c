#pragma once

#include "skein.pb.h"
#include "skein/worker_status.hpp"

#include <array>
#include <atomic>

namespace skein {

//! Counts how long a node takes for the messages that come over its links: from the arrival of one to the end of what
//! it is handled with. Thread-safe, without locks.
class MessageMeter {
public:
	void Count(const wire::Message &message, uint64_t micros);
	std::array<MessageDurations, MESSAGE_KIND_COUNT> Read() const;

private:
	struct Counters {
		std::array<std::atomic<uint64_t>, MessageDurations::LIMITS_SECONDS.size() + 1> count{};
		std::atomic<uint64_t> total_micros{0};
	};
	std::array<Counters, MESSAGE_KIND_COUNT> counters_;
};

} // namespace skein
