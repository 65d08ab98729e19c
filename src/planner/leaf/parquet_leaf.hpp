#pragma once

#include "engine/parquet_scan.hpp"
#include "planner/leaf/scan_leaf.hpp"

#include <optional>

namespace skein {

//! What planning knows about one Parquet scan: a unit is a row group.
struct ParquetLeaf final : ScanLeaf {
	//! A slice. The worker opens the files by their absolute paths, never expands a pattern, and refuses a file that
	//! has changed since planning. Row groups that the filters of the scan rule out are no units, so a slice is right
	//! only with these filters.
	//!
	//!     Get[read_parquet]        =>        Get[skein_parquet_slice, units]
	//!
	//! Can be read and executed by any instance on which RegisterParquetSlice was called.
	duckdb::unique_ptr<duckdb::LogicalGet> MakeVariant(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													   const duckdb::vector<ScanUnit> &units) const override;
	std::string Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const override;
	const std::string &OpenPath(size_t file) const override {
		return files[file].OpenPath();
	}
	const std::string *QueryPath(size_t file) const override {
		return &files[file].path;
	}
	bool KnowsRows() const override {
		return true;
	}

	//! All files of the scan, in DuckDB's order.
	duckdb::vector<ParquetFileInfo> files;
};

//! nullopt and a `reason` if `get` cannot be split exactly, or if a file cannot be read; the reason is empty if it is
//! another kind of scan.
std::optional<ParquetLeaf> AnalyzeParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											  std::string &reason, FooterCache *footers);

} // namespace skein
