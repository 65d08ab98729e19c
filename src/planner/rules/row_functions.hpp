#pragma once

#include "duckdb/planner/logical_operator.hpp"

namespace skein {

//! Whether this is a table function that is called for each row of its child, `FROM t, range(t.n)`, and remembers none.
bool IsCalledPerRow(const duckdb::LogicalOperator &op);

} // namespace skein
