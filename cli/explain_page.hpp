#pragma once

#include <string>

namespace skein::cli {

//! One self-contained page that draws a plan: `json` is what EXPLAIN (FORMAT json), or EXPLAIN (ANALYZE, FORMAT json),
//! gave for `sql`. It loads nothing from anywhere.
std::string ExplainPage(const std::string &sql, const std::string &json);

} // namespace skein::cli
