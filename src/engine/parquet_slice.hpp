#pragma once

#include "engine/parquet_scan.hpp"

namespace skein {

//! Consecutive row groups of a file.
struct RowGroupRange {
	duckdb::idx_t begin;
	//! The first row group after the range.
	duckdb::idx_t end;
};

//! The part of one file that a slice reads.
struct ParquetSliceFile {
	ParquetFileInfo file;
	//! Position of the file in the list of the whole scan; what `file_index` reports.
	duckdb::idx_t file_index;
	//! Disjoint, in order.
	duckdb::vector<RowGroupRange> ranges;
};

//! Makes plans with slices readable and executable on `db`. Idempotent; thread-safe.
void RegisterParquetSlice(duckdb::DatabaseInstance &db);

//! A scan like the Parquet scan `get` that reads only `files`, in their order. `rows` is the sum over their row groups.
//!
//! Same table index, column ids, projections, filters and bindings as `get`. Filters that only a running join or top-n
//! can fill are left out: whoever executes the slice sets them up again (RestoreRunTimeHelp).
//! When executed, a file that is missing, shorter or newer than its ParquetFileInfo says is a duckdb::IOException that
//! names it.
duckdb::unique_ptr<duckdb::LogicalGet> MakeParquetSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
                                                        duckdb::vector<ParquetSliceFile> files, duckdb::idx_t rows);

} // namespace skein
