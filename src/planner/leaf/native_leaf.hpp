#pragma once

#include "engine/native_scan.hpp"
#include "planner/leaf/scan_leaf.hpp"

#include <optional>

namespace skein {

//! What planning knows about one scan of a table of a database file: a unit is a row group.
struct NativeLeaf final : ScanLeaf {
	//! A slice. The worker opens the database file by its absolute path, read only, and refuses one that has changed
	//! since planning. Row groups that the filters of the scan rule out are no units, so a slice is right only with
	//! these filters.
	//!
	//!     Get[seq_scan]        =>        Get[skein_native_slice, units]
	duckdb::unique_ptr<duckdb::LogicalGet> MakeVariant(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													   const duckdb::vector<ScanUnit> &units) const override;
	std::string Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const override;
	const std::string &OpenPath(size_t) const override {
		return scan.path;
	}
	bool KnowsRows() const override {
		return true;
	}

	NativeScan scan;
};

//! nullopt and a `reason` if `get` cannot be split exactly or others cannot read the table; the reason is empty if it
//! is another kind of scan.
std::optional<NativeLeaf> AnalyzeNativeScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											std::string &reason);

} // namespace skein
