#pragma once

#include "duckdb/optimizer/optimizer_extension.hpp"

namespace skein {

class SkeinInstance;

//! The optimizer extension that distributes a session's queries; DuckDB calls it after its own optimizers.
duckdb::OptimizerExtension MakeOptimizerHook(duckdb::shared_ptr<SkeinInstance> instance);

} // namespace skein
