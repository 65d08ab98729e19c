#include "engine/slice_scan.hpp"

#include "engine/dynamic_filters.hpp"

namespace skein {

using namespace duckdb;

unique_ptr<LogicalGet> MakeSliceScan(ClientContext &context, const LogicalGet &get, TableFunction function,
									 unique_ptr<FunctionData> bind_data) {
	function.get_virtual_columns(context, bind_data.get());

	auto slice = make_uniq<LogicalGet>(get.table_index, std::move(function), std::move(bind_data), get.returned_types,
									   get.names, get.virtual_columns);
	auto column_ids = get.GetColumnIds();
	slice->SetColumnIds(std::move(column_ids));
	slice->projection_ids = get.projection_ids;
	slice->table_filters = std::move(*get.table_filters.Copy());
	DropDynamicFilters(slice->table_filters);
	slice->extra_info.file_filters = get.extra_info.file_filters;
	slice->extra_info.total_files = get.extra_info.total_files;
	slice->extra_info.filtered_files = get.extra_info.filtered_files;
	slice->ResolveOperatorTypes();
	return slice;
}

} // namespace skein
