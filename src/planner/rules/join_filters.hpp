#pragma once

#include "plan/nodes/exchange.hpp"
#include "planner/placement.hpp"

namespace skein {

//! Lets only rows cross the boundary `moved` whose keys have crossed the boundary `by`, that of the other side.
void FilterShuffle(duckdb::LogicalOperator &moved, duckdb::optional_ptr<LogicalExchange> by);

//! The same of the left side, which is shuffled to where `by` has brought the right side. Often another boundary of
//! the right side, or more columns than those by which rows are shuffled, let fewer rows through: with the same
//! values in all columns that both sides are joined by and that have crossed that boundary together.
void FilterLeft(Placement &placement, duckdb::LogicalOperator &op, duckdb::optional_ptr<LogicalExchange> by);

//! Lets only rows of a large right side be broadcast that have a match, if the keys of all rows on the left have
//! crossed a boundary: the right side waits for them, as joins above it do for it.
void FilterBroadcast(Placement &placement, duckdb::LogicalOperator &op, duckdb::JoinType type);

} // namespace skein
