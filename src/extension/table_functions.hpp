#pragma once

#include "duckdb.hpp"

namespace skein {

class SkeinInstance;

//! skein_last_query(), skein_serve() and those of the functions below.
void RegisterTableFunctions(duckdb::DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance);

//! What the operators of the last query did, if it was run by EXPLAIN ANALYZE.
void RegisterOperatorsFunction(duckdb::DatabaseInstance &db);

//! skein_stages() and skein_tasks(): of the session's last query, or of one that runs on its workers.
void RegisterTasksFunctions(duckdb::DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance);

} // namespace skein
