#include "planner/leaf/native_leaf.hpp"

#include "engine/native_slice.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

namespace {

//! Row groups that filters ruled out separate ranges.
duckdb::vector<RowGroupRange> RangesOf(const duckdb::vector<ScanUnit> &units) {
	duckdb::vector<RowGroupRange> ranges;
	for (auto &unit : units) {
		if (ranges.empty() || ranges.back().end != unit.row_group) {
			ranges.push_back({unit.row_group, unit.row_group});
		}
		ranges.back().end++;
	}
	return ranges;
}

} // namespace

std::optional<NativeLeaf> AnalyzeNativeScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											std::string &reason) {
	auto scan = InspectNativeScan(context, get, reason);
	if (!scan) {
		return std::nullopt;
	}
	NativeLeaf leaf;
	leaf.units.reserve(scan->row_groups.size());
	for (auto &row_group : scan->row_groups) {
		leaf.units.push_back({0, row_group.index, row_group.rows, row_group.bytes});
		leaf.total_rows += row_group.rows;
		leaf.total_bytes += row_group.bytes;
	}
	leaf.scan = std::move(*scan);
	return leaf;
}

duckdb::unique_ptr<duckdb::LogicalGet> NativeLeaf::MakeVariant(duckdb::ClientContext &context,
															   const duckdb::LogicalGet &get,
															   const duckdb::vector<ScanUnit> &units) const {
	NativeSlice slice{scan, RangesOf(units)};
	for (auto &unit : units) {
		slice.rows += unit.rows;
	}
	auto rows = slice.rows;
	auto result = MakeNativeSlice(context, get, std::move(slice));
	result->SetEstimatedCardinality(std::min(rows, ShareOfEstimate(get, rows, total_rows)));
	return result;
}

std::string NativeLeaf::Describe(const duckdb::vector<ScanUnit> &units, size_t) const {
	auto result = "SEQ_SCAN " + scan.database + "." + (scan.schema == DEFAULT_SCHEMA ? "" : scan.schema + ".") +
				  scan.table + " row_groups=[";
	for (auto &range : RangesOf(units)) {
		result += result.back() == '[' ? "" : ",";
		result += std::to_string(range.begin);
		result += range.end - range.begin > 1 ? ".." + std::to_string(range.end - 1) : "";
	}
	return result + "]";
}

} // namespace skein
