#include "engine/scan_units.hpp"

#include "engine/native_slice.hpp"
#include "engine/parquet_slice_reader.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

using namespace duckdb;

namespace {

void AddRowGroups(const skein::RowGroupRange &range, const string &of, std::vector<string> &units) {
	for (auto row_group = range.begin; row_group < range.end; row_group++) {
		units.push_back("row group " + std::to_string(row_group) + " of " + of);
	}
}

void AddScan(const LogicalGet &get, std::vector<string> &units) {
	if (auto slice = NativeSliceOf(get)) {
		for (auto &range : slice->ranges) {
			AddRowGroups(range, "table " + slice->schema + "." + slice->table + " of " + slice->path, units);
		}
		return;
	}
	auto bind_data = dynamic_cast<const MultiFileBindData *>(get.bind_data.get());
	if (!bind_data || !bind_data->file_list) {
		return;
	}
	if (auto slice = dynamic_cast<const skein_parquet::SliceBindData *>(bind_data->bind_data.get())) {
		for (auto &file : slice->files) {
			for (auto &range : file.ranges) {
				AddRowGroups(range, file.path, units);
			}
		}
		return;
	}
	for (auto &filter : get.table_filters.filters) {
		// Such as a range of file_row_number.
		if (IsVirtualColumn(filter.first)) {
			return;
		}
	}
	for (auto &file : bind_data->file_list->GetAllFiles()) {
		units.push_back("the file " + file.path);
	}
}

} // namespace

std::vector<string> UnitsOfScans(const LogicalOperator &plan) {
	std::vector<string> units;
	if (plan.type == LogicalOperatorType::LOGICAL_GET) {
		AddScan(plan.Cast<LogicalGet>(), units);
	}
	for (auto &child : plan.children) {
		auto below = UnitsOfScans(*child);
		units.insert(units.end(), below.begin(), below.end());
	}
	return units;
}

} // namespace skein
