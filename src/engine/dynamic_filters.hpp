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

//! Removes what joins of `plan` would tell scans of columns of types for which DuckDB 1.5.5 may skip row groups that
//! hold the value: if all keys of the right side are the same one, it is looked up in the Bloom filters of Parquet
//! files. A task has fewer keys than the whole query.
void DropJoinFiltersThatMissRows(duckdb::LogicalOperator &plan);

//! Removes the dynamic filters of a top-n whose bound has another type than the column that they are about: DuckDB
//! 1.5.5 looks for the columns through casts but does not cast the bound, so that a scan compares the bound's bytes
//! with values of another width, and loses rows or fails, once the bound is known before the scan begins.
void DropMistypedDynamicFilters(duckdb::LogicalOperator &plan);

} // namespace skein
