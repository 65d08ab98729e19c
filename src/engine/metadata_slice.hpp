#pragma once

#include "engine/slice_files.hpp"

#include <optional>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! The files that `get`, a call of parquet_metadata or one of its kin, reads the footers of, in DuckDB's order; nullopt
//! and a `reason` if MakeMetadataSlice cannot represent the call, or if a file cannot be opened. The reason is empty if
//! it is another kind of scan. Opens the files of which the list does not tell the size already.
std::optional<duckdb::vector<ScanFile>> InspectMetadataScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
															std::string &reason);

//! A scan like `get`, which InspectMetadataScan accepted, that reads only `files`, in their order; none at all are
//! allowed. When executed, it calls DuckDB's function for one file after the other. A file that is missing or of
//! another version is a duckdb::IOException that names it.
duckdb::unique_ptr<duckdb::LogicalGet> MakeMetadataSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
														 duckdb::vector<SliceFile> files);

//! Makes plans with such slices readable and executable on `db`. Idempotent; thread-safe.
void RegisterMetadataSlice(duckdb::DatabaseInstance &db);

} // namespace skein
