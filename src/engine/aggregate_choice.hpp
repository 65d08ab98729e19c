#pragma once

#include "engine/aggregate_parts.hpp"

namespace skein {

//! Whether SplitChoice() knows an aggregate of this name and number of arguments.
bool ChoosesARow(const duckdb::BoundAggregateExpression &aggregate);

//! Divides an aggregate that returns a value of one of its rows: first, last, arg_min, arg_max and the like.
//!
//! A part's result is that row, as a struct of the arguments, or NULL if there is none; the final step chooses among
//! the rows of the parts. `partial_type` and the alias are left to the caller.
AggregateParts SplitChoice(duckdb::ClientContext &context, const duckdb::BoundAggregateExpression &aggregate);

//! Whether SplitChoices() knows an aggregate: `min(v, n)`, `arg_max(v, by, n)` and the like, with a constant n.
bool ChoosesRows(const duckdb::BoundAggregateExpression &aggregate);

//! Divides an aggregate that returns a list of values of its first n rows.
//!
//! A part's result is the list of its own first rows, as structs if `by` is needed again, or NULL if there are none;
//! the final step takes the elements of all lists for rows. `partial_type` and the alias are left to the caller.
AggregateParts SplitChoices(duckdb::ClientContext &context, const duckdb::BoundAggregateExpression &aggregate);

//! Binds an aggregate of the system catalog by name; returns nothing if no overload takes the inputs.
duckdb::unique_ptr<duckdb::BoundAggregateExpression>
BindAggregate(duckdb::ClientContext &context, const std::string &name,
			  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> inputs);

} // namespace skein
