#pragma once

#include "plan/task_key.hpp"
#include "skein.pb.h"
#include "transport/transport.hpp"

namespace skein {

inline void SendMessage(Link &link, const wire::Message &message, SharedBytes body = {}) {
	link.Send({message.SerializeAsString(), std::move(body)});
}

inline void EncodePartition(const PartitionKey &key, wire::OutputId &target) {
	target.set_query(key.task.query);
	target.set_stage(key.task.stage);
	target.set_task(key.task.task);
	target.set_attempt(key.task.attempt);
	target.set_output(key.output);
	target.set_partition(key.partition);
}

inline PartitionKey DecodePartition(const wire::OutputId &source) {
	return {{source.query(), source.stage(), source.task(), source.attempt()}, source.output(), source.partition()};
}

} // namespace skein
