#pragma once

#include "planner/stage_draft.hpp"

#include <string>

namespace skein {

//! The stages of a query as EXPLAIN shows them, consumers first: stable text, no addresses, no estimates.
//!
//!     ┌───── Distributed ── workers=4
//!     │ PROJECTION: a, b
//!     │   [Stage 2] => NetworkCoalesce: input_tasks=4
//!     └──────────────────────────────────────────────────
//!       ┌───── Stage 2 ── tasks=4
//!       ...
std::string PlanText(const QueryDraft &draft, const duckdb::LogicalOperator &head, duckdb::idx_t workers);

} // namespace skein
