#pragma once

#include "engine/parquet_scan.hpp"
#include "engine/row_group_range.hpp"
#include "engine/slice_files.hpp"

namespace skein {

//! The part of one file that a slice reads.
struct ParquetSliceFile : SliceFile {
	//! As ParquetFileVersion has it.
	uint64_t footer_hash = 0;
	//! Disjoint, in order, none empty.
	duckdb::vector<RowGroupRange> ranges;
	//! Sum over `ranges`.
	duckdb::idx_t rows = 0;
};

//! Makes plans with slices readable and executable on `db`. Idempotent; thread-safe.
void RegisterParquetSlice(duckdb::DatabaseInstance &db);

//! A scan like the Parquet scan `get` that reads only `files`, in their order; none at all are allowed.
//!
//! Same table index, column ids, projections, filters and bindings as `get`, which InspectParquetScan accepted. Filters
//! that only a running top-n can fill are left out: whoever executes the slice sets them up again (RestoreRunTimeHelp).
//! Each file is opened by `open_path`, never through a pattern. When executed, a file that is missing or of another
//! version is a duckdb::IOException that names it.
duckdb::unique_ptr<duckdb::LogicalGet> MakeParquetSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
														duckdb::vector<ParquetSliceFile> files);

} // namespace skein
