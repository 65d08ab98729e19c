#pragma once

#include "duckdb.hpp"

namespace skein {

class SkeinInstance;

//! skein_last_query(), skein_tasks() and skein_serve().
void RegisterTableFunctions(duckdb::DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance);

} // namespace skein
