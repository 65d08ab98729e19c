#include "worker/running_task.hpp"

#include "duckdb/main/client_context_state.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *KEY = "skein_running_task";

struct RunningTaskState final : public ClientContextState {
	explicit RunningTaskState(RunningTask task_p) : task(std::move(task_p)) {
	}
	const RunningTask task;
};

} // namespace

void NoteRunningTask(ClientContext &context, RunningTask task) {
	context.registered_state->Insert(KEY, make_shared_ptr<RunningTaskState>(std::move(task)));
}

std::optional<RunningTask> RunningTask::In(ClientContext &context) {
	auto state = context.registered_state->Get<RunningTaskState>(KEY);
	return state ? std::make_optional(state->task) : std::nullopt;
}

} // namespace skein
