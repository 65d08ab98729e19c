#include "engine/hive_columns.hpp"

#include "duckdb/common/hive_partitioning.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

using namespace duckdb;

vector<HiveColumn> HiveColumnsOf(LogicalGet &get) {
	vector<HiveColumn> result;
	auto bind_data = dynamic_cast<MultiFileBindData *>(get.bind_data.get());
	if (!bind_data) {
		return result;
	}
	auto &ids = get.GetColumnIds();
	for (auto &binding : get.GetColumnBindings()) {
		if (binding.table_index != get.table_index || binding.column_index >= ids.size()) {
			continue;
		}
		auto column = ids[binding.column_index].GetPrimaryIndex();
		for (auto &partition : bind_data->reader_bind.hive_partitioning_indexes) {
			if (partition.index != column || IsVirtualColumn(column)) {
				continue;
			}
			// A column of the files that has the same name is overridden, and takes the type of the path's value.
			auto type = bind_data->file_options.GetHiveLogicalType(partition.value);
			if (type == get.returned_types[column]) {
				result.push_back({partition.value, binding, type});
			}
			break;
		}
	}
	return result;
}

Value HiveValueOf(ClientContext &context, const HiveColumn &column, const std::string &path) {
	auto values = HivePartitioning::Parse(path);
	return HivePartitioning::GetValue(context, column.key, values[column.key], column.type);
}

} // namespace skein
