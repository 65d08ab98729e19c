#pragma once

#include "duckdb.hpp"

#include <functional>

namespace duckdb {
class AggregateFunction;
class BoundAggregateExpression;
} // namespace duckdb

namespace skein {

//! Adds up partial counts: BIGINT -> BIGINT, 0 when there is no input, NULLs are ignored.
inline constexpr const char *SUM_COUNTS = "skein_sum_counts";
//! Runs another aggregate, the inner one, and returns the bytes of its state as a BLOB; never NULL.
inline constexpr const char *PARTIAL_STATE = "skein_partial_state";
//! Combines the states that PARTIAL_STATE returned and returns the inner aggregate's result.
inline constexpr const char *FINAL_STATE = "skein_final_state";

//! Registers SUM_COUNTS, PARTIAL_STATE, FINAL_STATE and FINAL_OF_LISTS in the system catalog of `db`: on every instance
//! that splits aggregates or executes the parts. A second call does nothing. SQL cannot call the latter three: their
//! bind throws.
void RegisterAggregateState(duckdb::DatabaseInstance &db);

//! Whether the state of a bound aggregate may travel as bytes between processes that run the same build of the engine:
//! it holds no pointer. Decided by an explicit list of functions and argument types.
bool HasFlatState(const duckdb::AggregateFunction &function);

//! A pair of aggregates that compute an inner aggregate in two steps.
struct StateAggregates {
	//! PARTIAL_STATE over copies of the inner aggregate's inputs, with its FILTER.
	duckdb::unique_ptr<duckdb::Expression> partial;
	//! Returns FINAL_STATE over a BLOB column of partial results; its return type is the inner aggregate's.
	std::function<duckdb::unique_ptr<duckdb::Expression>(duckdb::ClientContext &context,
														 duckdb::unique_ptr<duckdb::Expression> partial_column)>
		make_final;
};

//! Wraps an aggregate for which HasFlatState() holds. DISTINCT and ORDER BY of the aggregate are not looked at.
//! The wrapped functions serialise the inner function by name and argument types; reading them binds it again under the
//! reader's context and throws SerializationException if its state has another size there.
StateAggregates MakeStateAggregates(duckdb::ClientContext &context, const duckdb::BoundAggregateExpression &inner);

} // namespace skein
