#pragma once

#include "duckdb.hpp"

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

//! A file of a Parquet scan, as seen at planning.
struct ParquetFileInfo {
	//! As the query sees it, in `filename` and in hive partitions.
	std::string path;
	//! The path by which any process opens it: `path` made absolute if it is local.
	std::string open_path;
	//! Bytes of the whole file, footer included.
	duckdb::idx_t size;
	duckdb::timestamp_t last_modified;
	//! All row groups of the file, those that filters rule out included.
	duckdb::idx_t row_group_count;
	//! The row groups that the scan's filters do not rule out, in order.
	duckdb::vector<ParquetRowGroupInfo> row_groups;
};

//! The files of the Parquet scan `get` in DuckDB's order, each with its row groups; nullopt and a `reason` if `get` is
//! another kind of scan or one that MakeParquetSlice cannot represent.
//!
//! Reads the footers that neither the binder nor DuckDB's metadata cache holds. Throws DuckDB's errors when a file
//! cannot be read.
std::optional<duckdb::vector<ParquetFileInfo>> InspectParquetScan(duckdb::ClientContext &context,
                                                                  duckdb::LogicalGet &get, std::string &reason);

} // namespace skein
