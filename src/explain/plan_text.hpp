#pragma once

#include "explain/plan_report.hpp"
#include "plan/planned_operator.hpp"

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
std::string PlanText(const PlanOutline &outline);

//! The same of a query that has run: behind every line what the tasks did there, and at the end of each stage a line
//! for each of its tasks.
std::string PlanText(const PlanReport &report);

} // namespace skein
