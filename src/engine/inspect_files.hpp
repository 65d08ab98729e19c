#pragma once

#include "duckdb.hpp"

#include <functional>
#include <string>

namespace duckdb {
struct OpenFileInfo;
} // namespace duckdb

namespace skein {

//! Calls `inspect` with the number of each file, on the scheduler's threads, as one task for so many files; it returns
//! why a file cannot be read by tasks, or nothing, and may be called by several threads at once.
//!
//! Returns the first reason in the order of the files; empty if there is none. Files of this machine and of others
//! together are a reason. An error that `inspect` throws is a
//! reason, too, but for interrupts and lack of memory, which are thrown.
std::string InspectFiles(duckdb::ClientContext &context, const duckdb::vector<duckdb::OpenFileInfo> &files,
						 duckdb::idx_t files_per_task, const std::function<std::string(duckdb::idx_t)> &inspect);

} // namespace skein
