#pragma once

#include "duckdb.hpp"

namespace skein {

class SkeinInstance;

//! Registers skein_cluster(), skein_queries(), skein_cancel() and skein_stages().
void RegisterClusterFunctions(duckdb::DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance);

} // namespace skein
