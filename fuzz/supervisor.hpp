#pragma once

#include "fuzz/fuzz_loop.hpp"
#include "fuzz/report.hpp"

namespace skein::fuzz {

//! Runs all seeds in processes of their own, so that one that crashes names its seed and is replaced by another that
//! goes on with the next. Prints findings and, at the end, the report. Returns whether nothing was found.
bool RunSupervised(const FuzzOptions &options);

} // namespace skein::fuzz
