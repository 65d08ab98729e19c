#pragma once

#include "duckdb.hpp"

#include <functional>
#include <optional>
#include <string>

namespace duckdb {
class BoundAggregateExpression;
} // namespace duckdb

namespace skein {

//! How one aggregate is computed in two steps, partial results first and one final result per group after them.
//!
//!     Aggregate[k: avg(v)]               Aggregate[k: final(s)]
//!       Scan                      =>       Aggregate[k: partial(v) AS s]
//!                                            Scan
//!
//! Invariants: the final result over the partial results of any division of the rows, empty parts included, is the
//! aggregate of all rows; only floating point results may differ, in their last digits, as they do with the order of
//! rows. Both steps are ordinary aggregates: DuckDB plans, serialises and executes them if RegisterAggregateState() was
//! called.
struct AggregateParts {
	//! A BoundAggregateExpression over copies of the original's inputs, with its FILTER; never DISTINCT or ordered.
	duckdb::unique_ptr<duckdb::Expression> partial;
	//! The type of a partial result: of the column to pass on.
	duckdb::LogicalType partial_type;
	//! Returns the BoundAggregateExpression over a column of partial results. Its return type is exactly the
	//! original's. May be called any number of times, also when the original is gone. Both steps are named after the
	//! original in EXPLAIN, by their alias: `partial avg(v)`, `final avg(v)`.
	std::function<duckdb::unique_ptr<duckdb::Expression>(duckdb::ClientContext &context,
														 duckdb::unique_ptr<duckdb::Expression> partial_column)>
		make_final;
};

//! Divides an aggregate of a bound plan into two steps; the aggregate is left as it is.
//!
//! Needs an active transaction: functions are looked up in the catalog.
//! Returns nothing, and says why in `reason` (one line for EXPLAIN), if the result could not be exact: DISTINCT inputs,
//! ORDER BY inside, a result that depends on the order of rows, or a function that is not known to be divisible.
std::optional<AggregateParts> SplitAggregate(duckdb::ClientContext &context,
											 const duckdb::BoundAggregateExpression &aggregate, std::string &reason);

} // namespace skein
