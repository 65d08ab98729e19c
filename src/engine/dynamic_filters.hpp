#pragma once

#include "duckdb.hpp"

namespace duckdb {
class LogicalOperator;
class TableFilterSet;
} // namespace duckdb

namespace skein {

//! Removes from `filters` what only a running top-n can fill and what serialisation empties. Keeps the rows: such a
//! filter is optional.
void DropDynamicFilters(duckdb::TableFilterSet &filters);

//! Removes the dynamic filters of every scan of `plan`.
void DropDynamicFilters(duckdb::LogicalOperator &plan);

} // namespace skein
