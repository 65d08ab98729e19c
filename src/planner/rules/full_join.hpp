#pragma once

#include "planner/placement.hpp"

namespace skein {

//! Places a FULL JOIN whose sides cannot be partitioned, as no equality is among its conditions: rows with a match, and
//! those of the left side without one, come from a LEFT JOIN, the others from an ANTI JOIN of the right side.
//!
//!     FullJoin[c]              UnionAll
//!       l               =>       LeftJoin[c]
//!       r                          l, computed once
//!                                  NetworkBroadcast of r, computed once
//!                                Project[NULL, r]
//!                                  AntiJoin[c]
//!                                    r
//!                                    NetworkBroadcast of l
//!
//! `left` and `right`: where the sides of `op` are. None is pinned.
Distribution PlaceFullJoin(Placement &placement, duckdb::unique_ptr<duckdb::LogicalOperator> &op, Distribution left,
						   Distribution right);

//! Whether `op` is a FULL JOIN of which PlaceFullJoin() knows all conditions.
bool CanDivideFullJoin(const duckdb::LogicalOperator &op);

} // namespace skein
