#pragma once

#include "duckdb/main/client_context_state.hpp"
#include "exchange/exchange_input.hpp"
#include "exchange/output_buffer.hpp"

namespace skein {

//! What the exchange operators of one task read and write; attached to the task's connection before it is planned.
struct TaskChannels final : public duckdb::ClientContextState {
	static constexpr const char *KEY = "skein_task_channels";

	//! By the input number of the stage's exchange sources.
	std::vector<std::shared_ptr<ExchangeInput>> inputs;
	//! By the output number of the stage's exchange sink.
	std::vector<std::shared_ptr<OutputBuffer>> outputs;
	duckdb::idx_t page_bytes = 0;

	//! The channels of the task that runs in `context`. Throws duckdb::InternalException outside of a task.
	static duckdb::shared_ptr<TaskChannels> Get(duckdb::ClientContext &context);
};

} // namespace skein
