#pragma once

#include "engine/parquet_scan.hpp"
#include "planner/leaf/unit_dealing.hpp"

#include <optional>
#include <string>

namespace skein {

//! What planning knows about one Parquet scan.
struct ParquetLeaf {
	//! All files of the scan, in DuckDB's order.
	duckdb::vector<ParquetFileInfo> files;
	//! The row groups that the pushed down filters do not rule out, in file and row-group order.
	duckdb::vector<ScanUnit> units;
	duckdb::idx_t total_rows = 0;
	duckdb::idx_t total_bytes = 0;
};

//! What `get` reads, as units that can be dealt to tasks; nullopt and a `reason` if it is not a Parquet scan or cannot
//! be split exactly, or if a file cannot be read.
//!
//! Row groups that the filters of `get` rule out are no units, so a slice is right only with these filters.
std::optional<ParquetLeaf> AnalyzeParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											  std::string &reason);

//! A scan with the table index, columns, projections, filters and bindings of `get` that reads exactly `units` of
//! `leaf`, in their order; none at all are allowed.
//!
//!     Get[read_parquet]        =>        Get[skein_parquet_slice, units]
//!
//! Travels in a serialised plan to any instance on which RegisterParquetSlice was called. The worker opens the files by
//! their absolute paths, never expands a pattern, and refuses a file that has changed since planning.
duckdb::unique_ptr<duckdb::LogicalGet> MakeParquetSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
														const ParquetLeaf &leaf, const duckdb::vector<ScanUnit> &units);

//! `units` for EXPLAIN: `files=[lineitem/1.parquet row_groups=0..3, ...] bytes=1048576`; at most `max_files` files.
std::string DescribeUnits(const ParquetLeaf &leaf, const duckdb::vector<ScanUnit> &units, size_t max_files);

} // namespace skein
