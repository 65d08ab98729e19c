#pragma once

#include "duckdb.hpp"

namespace skein {

class SkeinInstance;

//! Registers skein_cluster(), skein_queries() and skein_cancel().
void RegisterClusterFunctions(duckdb::DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance);

} // namespace skein
