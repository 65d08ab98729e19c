#pragma once

#include "duckdb.hpp"

#include <optional>
#include <string>
#include <vector>

namespace skein::cli {

using Row = duckdb::vector<duckdb::Value>;

//! Whether two values of one type are the same: DOUBLE, also inside nested values, within a relative 1e-9, all else
//! exactly. NULL agrees with NULL, NaN with NaN, -0.0 with 0.0.
bool ValuesAgree(const duckdb::Value &left, const duckdb::Value &right);

//! Gives each of `rows` a partner in `candidates` that agrees with it in all columns, no candidate to two rows.
//! Returns the number of a row for which that is impossible, or nothing.
//!
//! As agreement within a tolerance is not transitive, this is a matching of rows, not a comparison of sorted lists.
//! Method: rows are grouped by what must agree exactly. Inside a group pairs at the same place of the sorted order are
//! tried first; if one of them does not agree, augmenting paths (Kuhn) find the largest matching.
std::optional<size_t> FindRowWithoutPartner(const duckdb::vector<duckdb::LogicalType> &types,
											const std::vector<Row> &rows, const std::vector<Row> &candidates);

//! A row for a message: `(1, abc, NULL)`, cut where it gets long.
std::string RowText(const Row &row);

} // namespace skein::cli
