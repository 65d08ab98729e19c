#pragma once

#include "engine/footer_cache.hpp"
#include "engine/scan_file.hpp"

#include <optional>
#include <string>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! A row group as its file's footer describes it.
struct ParquetRowGroupInfo {
	//! Position in the file.
	duckdb::idx_t index;
	duckdb::idx_t rows;
	//! Compressed bytes of the columns that the scan projects.
	duckdb::idx_t bytes;
};

//! What makes a Parquet file the same file later and elsewhere.
struct ParquetFileVersion : FileVersion {
	//! Hash of what the footer says about the row groups: rows, offsets, sizes, statistics.
	uint64_t footer_hash = 0;
};

//! A file of a Parquet scan, as seen at planning.
struct ParquetFileInfo : ScanFile {
	//! As ParquetFileVersion has it.
	uint64_t footer_hash = 0;
	//! All row groups of the file, those that filters rule out included.
	duckdb::idx_t row_group_count = 0;
	//! The row groups that the scan's filters do not rule out, in order.
	duckdb::vector<ParquetRowGroupInfo> row_groups;
};

//! The files of the Parquet scan `get` in DuckDB's order, each with its row groups; nullopt and a `reason` if `get` is
//! another kind of scan or one that MakeParquetSlice cannot represent, or if a file cannot be read: DuckDB's own scan
//! then says whether that is an error. The reason is empty if it is another kind of scan.
//!
//! The position of a file is what DuckDB would report as `file_index`: files that the scan's filters exclude by name
//! are not listed.
//! Reads the footers that neither the binder nor `footers` nor DuckDB's metadata cache holds, with all threads of the
//! scheduler. `footers` may be nullptr: then nothing is kept.
std::optional<duckdb::vector<ParquetFileInfo>>
InspectParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get, std::string &reason, FooterCache *footers);

} // namespace skein
