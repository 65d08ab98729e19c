#pragma once

#include "engine/metadata_slice.hpp"
#include "planner/leaf/scan_leaf.hpp"

#include <optional>

namespace skein {

//! What planning knows about a call of parquet_metadata or one of its kin: a unit is a file, of which the footer is
//! read.
struct MetadataLeaf final : ScanLeaf {
	duckdb::unique_ptr<duckdb::LogicalGet> MakeVariant(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													   const duckdb::vector<ScanUnit> &units) const override;
	std::string Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const override;
	const std::string &OpenPath(size_t file) const override {
		return files[file].OpenPath();
	}
	bool KnowsRows() const override {
		return false;
	}

	//! PARQUET_METADATA or the like.
	std::string name;
	//! All files of the call, in DuckDB's order.
	duckdb::vector<ScanFile> files;
};

//! nullopt and a `reason` if `get` cannot be split exactly or a file cannot be read; the reason is empty if it is
//! another kind of scan.
std::optional<MetadataLeaf> AnalyzeMetadataScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
												std::string &reason);

} // namespace skein
