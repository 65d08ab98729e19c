#pragma once

#include "duckdb/planner/logical_operator.hpp"

#include <string>
#include <vector>

namespace skein {

//! Names of what the scans of files in `plan` read: row groups of slices, whole files of other scans. A scan that may
//! read only a part of its files has none.
std::vector<std::string> UnitsOfScans(const duckdb::LogicalOperator &plan);

} // namespace skein
