#pragma once

#include "engine/byte_range.hpp"
#include "engine/scan_file.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! A file of text, as seen at planning.
struct TextFile : ScanFile {
	//! In ranges of how many bytes tasks may read it; 0 if only as a whole.
	duckdb::idx_t range_bytes = 0;
	//! Why a file that is large enough for two ranges is read as a whole; else nullptr.
	const char *whole_because = nullptr;

	//! At least one. All have `range_bytes`, but for the last one, which has less than twice as much.
	duckdb::idx_t RangeCount() const {
		return range_bytes == 0 ? 1 : std::max<duckdb::idx_t>(1, version.size / range_bytes);
	}
	ByteRange Range(duckdb::idx_t number) const;
};

//! The files of the CSV, JSON or whole-file scan `get` in DuckDB's order; nullopt and a `reason` if `get` is another
//! kind of scan or one that MakeTextSlice cannot represent, or if a file cannot be opened: DuckDB's own scan then says
//! whether that is an error. The reason is empty if it is another kind of scan.
//!
//! A file is divided into ranges of `range_bytes` or somewhat more, if it has two of them and if every record of it is
//! a line. Opens the files of which the list does not tell the size already, and reads the first line of large JSON
//! files of which DuckDB has not said that they are newline-delimited; with all threads of the scheduler.
std::optional<duckdb::vector<TextFile>> InspectTextScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
														duckdb::idx_t range_bytes, std::string &reason);

//! READ_CSV, READ_JSON, READ_TEXT or READ_BLOB, for EXPLAIN; `get` is a scan that InspectTextScan accepted.
std::string TextScanName(const duckdb::LogicalGet &get);

} // namespace skein
