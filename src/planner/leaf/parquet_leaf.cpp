#include "planner/leaf/parquet_leaf.hpp"

#include "engine/parquet_slice.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

namespace {

//! The files of `units`, each with the ranges of row groups that follow each other in the file.
//!
//! Row groups that filters ruled out separate ranges: a worker that learns less from the filters must not read them.
duckdb::vector<ParquetSliceFile> ToSliceFiles(const ParquetLeaf &leaf, const duckdb::vector<ScanUnit> &units) {
	size_t files = 0;
	for (size_t i = 0; i < units.size(); i++) {
		files += i == 0 || units[i].file != units[i - 1].file;
	}
	duckdb::vector<ParquetSliceFile> result;
	result.reserve(files);
	for (auto &unit : units) {
		if (result.empty() || result.back().file_index != unit.file) {
			auto &file = leaf.files[unit.file];
			ParquetSliceFile slice;
			static_cast<ScanFile &>(slice) = file;
			slice.footer_hash = file.footer_hash;
			slice.file_index = unit.file;
			result.push_back(std::move(slice));
		}
		auto &slice = result.back();
		if (slice.ranges.empty() || slice.ranges.back().end != unit.row_group) {
			slice.ranges.push_back({unit.row_group, unit.row_group});
		}
		slice.ranges.back().end++;
		slice.rows += unit.rows;
	}
	return result;
}

} // namespace

std::optional<ParquetLeaf> AnalyzeParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											  std::string &reason, FooterCache *footers) {
	auto scan = InspectParquetScan(context, get, reason, footers);
	if (!scan) {
		return std::nullopt;
	}
	ParquetLeaf leaf;
	leaf.files = std::move(scan->files);
	size_t units = 0;
	for (auto &part : scan->row_groups) {
		units += part.size();
	}
	leaf.units.reserve(units);
	for (auto &part : scan->row_groups) {
		for (auto &row_group : part) {
			leaf.units.push_back({row_group.file, row_group.index, row_group.rows, row_group.bytes});
			leaf.total_rows += row_group.rows;
			leaf.total_bytes += row_group.bytes;
		}
	}
	return leaf;
}

duckdb::unique_ptr<duckdb::LogicalGet> ParquetLeaf::MakeVariant(duckdb::ClientContext &context,
																const duckdb::LogicalGet &get,
																const duckdb::vector<ScanUnit> &units) const {
	auto slice = MakeParquetSlice(context, get, ToSliceFiles(*this, units));
	duckdb::idx_t rows = 0;
	for (auto &unit : units) {
		rows += unit.rows;
	}
	slice->SetEstimatedCardinality(std::min(rows, ShareOfEstimate(get, rows, total_rows)));
	return slice;
}

std::string ParquetLeaf::Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const {
	std::string result = "READ_PARQUET files=[";
	// No more units than are shown, however many there are.
	duckdb::vector<ScanUnit> shown;
	for (size_t files_shown = 0, i = 0; i < units.size(); i++) {
		files_shown += i == 0 || units[i].file != units[i - 1].file;
		if (files_shown > max_files + 1) {
			break;
		}
		shown.push_back(units[i]);
	}
	auto slice_files = ToSliceFiles(*this, shown);
	for (size_t i = 0; i < slice_files.size(); i++) {
		result += i == 0 ? "" : ", ";
		if (i == max_files) {
			result += "...";
			break;
		}
		result += ShortPath(slice_files[i].path) + " row_groups=";
		for (auto &range : slice_files[i].ranges) {
			result += &range == &slice_files[i].ranges.front() ? "" : ",";
			result += std::to_string(range.begin);
			result += range.end - range.begin > 1 ? ".." + std::to_string(range.end - 1) : "";
		}
	}
	return result + "]";
}

} // namespace skein
