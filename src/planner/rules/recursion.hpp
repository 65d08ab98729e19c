#pragma once

#include "duckdb/planner/logical_operator.hpp"

namespace skein {

//! Whether the step of a recursive CTE in `op` reads this materialised CTE. That read cannot become a boundary.
bool IsReadInRecursion(const duckdb::LogicalOperator &op, duckdb::idx_t cte_index);

} // namespace skein
