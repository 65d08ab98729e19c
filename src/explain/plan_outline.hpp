#pragma once

#include "plan/planned_operator.hpp"
#include "planner/stage_draft.hpp"

namespace skein {

//! What EXPLAIN shows of the stages of a query, before their sinks are put on them.
PlanOutline OutlineOf(const QueryDraft &draft, const duckdb::LogicalOperator &head, size_t workers);

} // namespace skein
