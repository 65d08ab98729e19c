#pragma once

#include "engine/footer_cache.hpp"
#include "engine/scan_file.hpp"

#include <optional>
#include <string>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

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
};

//! A row group as its file's footer describes it.
struct ParquetRowGroupInfo {
	//! Position of the file in the scan.
	duckdb::idx_t file;
	//! Position in the file.
	duckdb::idx_t index;
	duckdb::idx_t rows;
	//! Compressed bytes of the columns that the scan projects.
	duckdb::idx_t bytes;
};

struct ParquetScanInfo {
	//! In DuckDB's order.
	duckdb::vector<ParquetFileInfo> files;
	//! The row groups that the scan's filters do not rule out, in order; in parts that follow each other.
	duckdb::vector<duckdb::vector<ParquetRowGroupInfo>> row_groups;
};

//! The files of the Parquet scan `get` and their row groups; nullopt and a `reason` if `get` is
//! another kind of scan or one that MakeParquetSlice cannot represent, or if a file cannot be read: DuckDB's own scan
//! then says whether that is an error. The reason is empty if it is another kind of scan.
//!
//! The position of a file is what DuckDB would report as `file_index`: files that the scan's filters exclude by name
//! are not listed.
//! Reads the footers that neither the binder nor `footers` nor DuckDB's metadata cache holds, with all threads of the
//! scheduler. `footers` may be nullptr: then nothing is kept.
std::optional<ParquetScanInfo> InspectParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
												  std::string &reason, FooterCache *footers);

} // namespace skein
