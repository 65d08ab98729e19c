#pragma once

#include "duckdb/planner/logical_operator.hpp"
#include "planner/placement.hpp"

namespace skein {

//! Takes out of the step of a recursive CTE what gives the same rows in each iteration and reads files, as materialised
//! CTEs around it that the step reads. DuckDB would read the files once per iteration.
//!
//!     RecursiveCTE                     CTE[edges]
//!       start                            Filter
//!       Join                 =>            Get[files]
//!         CTERef[recursive]              RecursiveCTE
//!         Filter                           start
//!           Get[files]                     Join
//!                                            CTERef[recursive]
//!                                            CTERef[edges]
//!
//! Only what cannot fail is taken: with nothing to start from, DuckDB may not read it at all.
//! Returns whether there was anything; `op` is then a materialised CTE.
bool HoistStepInvariants(Placement &placement, duckdb::unique_ptr<duckdb::LogicalOperator> &op);

} // namespace skein
