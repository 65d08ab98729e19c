#pragma once

#include "engine/scan_file.hpp"

#include <optional>
#include <string>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! The files of the CSV or JSON scan `get` in DuckDB's order; nullopt and a `reason` if `get` is another kind of scan
//! or one that MakeTextSlice cannot represent, or if a file cannot be opened: DuckDB's own scan then says whether that
//! is an error. The reason is empty if it is another kind of scan.
//!
//! Opens the files of which the list does not tell the size already, with all threads of the scheduler; reads nothing.
std::optional<duckdb::vector<ScanFile>> InspectTextScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
														std::string &reason);

//! READ_CSV or READ_JSON, for EXPLAIN; `get` is a scan that InspectTextScan accepted.
std::string TextScanName(const duckdb::LogicalGet &get);

} // namespace skein
