#include "exchange/task_channels.hpp"

namespace skein {

using namespace duckdb;

duckdb::shared_ptr<TaskChannels> TaskChannels::Get(ClientContext &context) {
	auto channels = context.registered_state->Get<TaskChannels>(KEY);
	if (!channels) {
		throw InternalException("An exchange operator was planned outside of a task");
	}
	return channels;
}

} // namespace skein
