#include "exchange/message_meter.hpp"

#include <algorithm>

namespace skein {

namespace {

MessageKind KindOf(const wire::Message &message) {
	switch (message.kind_case()) {
	case wire::Message::kStartTasks:
		return MessageKind::START_TASKS;
	case wire::Message::kEndQuery:
		return MessageKind::END_QUERY;
	case wire::Message::kPage:
		return MessageKind::PAGE;
	case wire::Message::kSubscribe:
		return MessageKind::SUBSCRIBE;
	case wire::Message::kCredit:
		return MessageKind::CREDIT;
	default:
		return MessageKind::OTHER;
	}
}

} // namespace

void MessageMeter::Count(const wire::Message &message, uint64_t micros) {
	auto &counters = counters_[static_cast<size_t>(KindOf(message))];
	auto &limits = MessageDurations::LIMITS_SECONDS;
	auto limit = std::lower_bound(limits.begin(), limits.end(), static_cast<double>(micros) / 1e6);
	counters.count[static_cast<size_t>(limit - limits.begin())]++;
	counters.total_micros += micros;
}

std::array<MessageDurations, MESSAGE_KIND_COUNT> MessageMeter::Read() const {
	std::array<MessageDurations, MESSAGE_KIND_COUNT> result;
	for (size_t kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
		std::copy(counters_[kind].count.begin(), counters_[kind].count.end(), result[kind].count.begin());
		result[kind].total_micros = counters_[kind].total_micros;
	}
	return result;
}

} // namespace skein
