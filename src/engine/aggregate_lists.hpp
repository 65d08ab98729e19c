#pragma once

#include "duckdb.hpp"

namespace duckdb {
class AggregateFunction;
class BoundAggregateExpression;
} // namespace duckdb

namespace skein {

//! Runs another aggregate, the inner one, over the elements of lists: LIST, BIGINT -> what the inner aggregate returns.
//! The inner aggregate keeps the first rows of its input, like `min(v, n)`: its last argument is the BIGINT, the others
//! are an element, or the fields of an element that is a STRUCT.
inline constexpr const char *FINAL_OF_LISTS = "skein_final_of_lists";

//! As the catalog has it; SQL cannot call it.
duckdb::AggregateFunction GetFinalOfLists();

//! Whether an aggregate may be the inner one: `min`, `max`, `arg_min`, `arg_max` and their like with a number of rows.
bool KeepsFirstRows(const duckdb::AggregateFunction &function);

//! FINAL_OF_LISTS over `lists`, with copies of the inner aggregate's function and last argument.
duckdb::unique_ptr<duckdb::Expression> MakeFinalOfLists(duckdb::ClientContext &context,
														const duckdb::BoundAggregateExpression &inner,
														duckdb::unique_ptr<duckdb::Expression> lists);

} // namespace skein
