#pragma once

#include "skein/task_estimator.hpp"

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! Divides `range()` and `generate_series()` of integers with constant arguments: each task counts a part of them.
//! nullptr and a `reason` if `get` is something else, or cannot be divided.
std::unique_ptr<LeafEstimate> EstimateRange(const LeafQuestion &question, duckdb::LogicalGet &get,
											bool as_often_as_allowed, std::string &reason);

} // namespace skein
