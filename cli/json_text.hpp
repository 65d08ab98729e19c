#pragma once

#include "duckdb.hpp"

#include <string>
#include <vector>

namespace skein::cli {

//! Returns the JSON text of each of the vector's first `count` values, on one line each.
//!
//! Numbers of every type stay numbers, with all their digits; NaN and infinities, which JSON has not, become strings.
//! Lists and arrays become arrays, structs and maps objects, a union the value it holds, JSON itself; all else is
//! DuckDB's text.
std::vector<std::string> ToJsonTexts(duckdb::ClientContext &context, duckdb::Vector &vector, duckdb::idx_t count);

//! A JSON string.
std::string JsonString(const std::string &text);

} // namespace skein::cli
