#pragma once

#include "skein/running_task.hpp"

namespace skein {

//! Lets RunningTask::In() find `task` in the connection that runs it.
void NoteRunningTask(duckdb::ClientContext &context, RunningTask task);

} // namespace skein
