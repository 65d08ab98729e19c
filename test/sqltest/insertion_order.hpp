#pragma once

#include "duckdb.hpp"

#include <string>

namespace skein::test {

//! Whether the rows of a query come in the order of its sources: DuckDB promises that for plans of scans, filters,
//! projections, UNNEST, LIMIT, UNION ALL and windows without partitions and order, unless the setting
//! preserve_insertion_order is off.
//!
//! `connection` knows the tables that the query names and does not distribute.
bool KeepsInsertionOrder(duckdb::Connection &connection, const std::string &sql);

} // namespace skein::test
