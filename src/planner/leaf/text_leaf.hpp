#pragma once

#include "engine/text_scan.hpp"
#include "planner/leaf/scan_leaf.hpp"

#include <optional>

namespace skein {

//! What planning knows about one scan of CSV or JSON files: a unit is a file, or a range of bytes of a file whose
//! records are lines, and its weight is its bytes as it is stored.
struct TextLeaf final : ScanLeaf {
	duckdb::unique_ptr<duckdb::LogicalGet> MakeVariant(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													   const duckdb::vector<ScanUnit> &units) const override;
	std::string Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const override;
	const std::string &OpenPath(size_t file) const override {
		return files[file].OpenPath();
	}
	std::string WhyWhole() const override;
	bool KnowsRows() const override {
		return false;
	}

	//! READ_CSV, READ_JSON, READ_TEXT or READ_BLOB.
	std::string name;
	//! All files of the scan, in DuckDB's order.
	duckdb::vector<TextFile> files;
};

//! nullopt and a `reason` if `get` cannot be split exactly or a file cannot be read; the reason is empty if it is
//! another kind of scan.
std::optional<TextLeaf> AnalyzeTextScan(duckdb::ClientContext &context, duckdb::LogicalGet &get, std::string &reason);

} // namespace skein
