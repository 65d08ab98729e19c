#include "planner/leaf/parquet_leaf.hpp"

#include "engine/parquet_slice.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

#include <cmath>

namespace skein {

namespace {

//! The files of `units`, each with the ranges of row groups that follow each other in the file.
//!
//! Row groups that filters ruled out separate ranges: a worker that learns less from the filters must not read them.
duckdb::vector<ParquetSliceFile> ToSliceFiles(const ParquetLeaf &leaf, const duckdb::vector<ScanUnit> &units) {
	duckdb::vector<ParquetSliceFile> result;
	for (auto &unit : units) {
		if (result.empty() || result.back().file_index != unit.file) {
			auto &file = leaf.files[unit.file];
			ParquetSliceFile slice;
			slice.path = file.path;
			slice.open_path = file.open_path;
			slice.version = file.version;
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

//! Rows that DuckDB expects to leave `get`, for the part of it that has `rows` of its `total_rows`.
duckdb::idx_t Share(const duckdb::LogicalGet &get, duckdb::idx_t rows, duckdb::idx_t total_rows) {
	if (!get.has_estimated_cardinality || total_rows == 0) {
		return rows;
	}
	auto share =
		static_cast<double>(get.estimated_cardinality) * static_cast<double>(rows) / static_cast<double>(total_rows);
	return std::min<duckdb::idx_t>(rows, static_cast<duckdb::idx_t>(std::ceil(share)));
}

} // namespace

std::optional<ParquetLeaf> AnalyzeParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											  std::string &reason) {
	auto files = InspectParquetScan(context, get, reason);
	if (!files) {
		return std::nullopt;
	}
	ParquetLeaf leaf;
	leaf.files = std::move(*files);
	for (size_t file = 0; file < leaf.files.size(); file++) {
		for (auto &row_group : leaf.files[file].row_groups) {
			leaf.units.push_back({file, row_group.index, row_group.rows, row_group.bytes});
			leaf.total_rows += row_group.rows;
			leaf.total_bytes += row_group.bytes;
		}
	}
	return leaf;
}

duckdb::unique_ptr<duckdb::LogicalGet> MakeParquetSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
														const ParquetLeaf &leaf,
														const duckdb::vector<ScanUnit> &units) {
	auto slice = MakeParquetSlice(context, get, ToSliceFiles(leaf, units));
	duckdb::idx_t rows = 0;
	for (auto &unit : units) {
		rows += unit.rows;
	}
	slice->SetEstimatedCardinality(Share(get, rows, leaf.total_rows));
	return slice;
}

std::string DescribeUnits(const ParquetLeaf &leaf, const duckdb::vector<ScanUnit> &units, size_t max_files) {
	std::string result = "files=[";
	auto files = ToSliceFiles(leaf, units);
	for (size_t i = 0; i < files.size(); i++) {
		result += i == 0 ? "" : ", ";
		if (i == max_files) {
			result += "...";
			break;
		}
		result += files[i].path + " row_groups=";
		for (auto &range : files[i].ranges) {
			result += &range == &files[i].ranges.front() ? "" : ",";
			result += std::to_string(range.begin);
			result += range.end - range.begin > 1 ? ".." + std::to_string(range.end - 1) : "";
		}
	}
	duckdb::idx_t bytes = 0;
	for (auto &unit : units) {
		bytes += unit.bytes;
	}
	return result + "] bytes=" + std::to_string(bytes);
}

} // namespace skein
