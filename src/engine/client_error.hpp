#pragma once

#include "duckdb/common/error_data.hpp"
#include "duckdb/main/client_context.hpp"

namespace skein {

//! Leaves an error of the running query to the thread that fetches its rows; true if that was possible.
//!
//! DuckDB stops a query whose pipeline has failed with its interrupt flag, and a client that streams looks at the flag
//! before it looks at the error: thrown on another thread, an error may reach it as a mere `Interrupted!`. So in the
//! pipeline that feeds a stream the error is put where the client's own thread will find it. The caller does not throw
//! then but returns BLOCKED, and is not called again. Elsewhere nothing is done: the caller throws.
//! Thread-safe; `context` must be executing.
bool LeaveErrorToClient(duckdb::ClientContext &context, const duckdb::ErrorData &error);

} // namespace skein
