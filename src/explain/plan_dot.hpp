#pragma once

#include "explain/plan_report.hpp"

#include <string>

namespace skein {

//! A distributed plan as a graph in the language of Graphviz: a cluster for the head and for each stage, a node for
//! each operator, an edge from each input to its reader. Deterministic.
std::string PlanDot(const PlanOutline &outline);

//! The same of a query that has run: operators with their rows and times, boundaries with what was sent, the wider the
//! more bytes.
std::string PlanDot(const PlanReport &report);

} // namespace skein
