#pragma once

#include "duckdb/planner/logical_operator.hpp"
#include "plan/distributed_plan.hpp"

namespace skein {

//! Where each of the `tasks` tasks of a stage with this root would rather run: as the variant of which it reads most
//! wants it. The variants have been made.
std::vector<TaskWish> WishesOf(duckdb::LogicalOperator &root, duckdb::idx_t tasks);

} // namespace skein
