#pragma once

#include "duckdb/planner/logical_operator.hpp"

namespace skein {

//! Throws duckdb::InternalException if an operator refers to a column that none of its children returns, or if a
//! boundary is not what its kind says: keys only for a shuffle, an order only for a merge.
//!
//! Looks at `op` alone; CheckPlan() at everything below it, too. Run after every rule, in every build.
void CheckOperator(duckdb::LogicalOperator &op);
void CheckPlan(duckdb::LogicalOperator &op);

} // namespace skein
