#pragma once

#include "suite.hpp"

namespace skein::cli {

//! TPC-H or TPC-DS, from DuckDB's extensions of these names. As OpenSuite().
Suite OpenTpcSuite(const SuiteOptions &options, Interrupt &interrupt);

} // namespace skein::cli
