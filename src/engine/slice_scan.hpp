#pragma once

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

//! A scan by `function` in the place of `get`: the same table index, columns, projections and filters, but for those
//! that are only known while a query runs. Types are resolved.
duckdb::unique_ptr<duckdb::LogicalGet> MakeSliceScan(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													 duckdb::TableFunction function,
													 duckdb::unique_ptr<duckdb::FunctionData> bind_data);

} // namespace skein
