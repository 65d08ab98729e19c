#pragma once

#include "engine/slice_files.hpp"
#include "engine/text_scan.hpp"

namespace skein {

//! Makes plans with slices of CSV and JSON scans readable and executable on `db`. Idempotent; thread-safe.
void RegisterTextSlices(duckdb::DatabaseInstance &db);

//! A scan like the CSV or JSON scan `get` that reads only `files`, in their order; none at all are allowed.
//!
//! Same table index, column ids, projections and bindings as `get`, which InspectTextScan accepted. What DuckDB found
//! in the files while it bound `get` (columns, types, dialect, formats of dates) is carried along: nobody finds out
//! again what the columns are. Each file is opened by `open_path`, never through a pattern. When executed, a file that
//! is missing or of another version is a duckdb::IOException that names it.
duckdb::unique_ptr<duckdb::LogicalGet> MakeTextSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													 duckdb::vector<SliceFile> files);

} // namespace skein
