#pragma once

#include "explain/plan_report.hpp"

#include <nlohmann/json_fwd.hpp>

namespace skein {

//! As reports call it: `shuffle`.
const char *ExchangeKindName(ExchangeKind kind);

//! A distributed plan as an object: `workers`, `plan` (the head's operators) and `stages`. The keys and their order are
//! part of what users rely on: docs/reading_a_plan.md lists them.
nlohmann::ordered_json PlanJson(const DistributedPlan &plan);

//! The same of a query that has run, with the numbers of its tasks.
nlohmann::ordered_json PlanJson(const DistributedPlan &plan, const PlanReport &report);

} // namespace skein
