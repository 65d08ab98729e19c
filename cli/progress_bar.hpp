#pragma once

#include "duckdb.hpp"

namespace skein::cli {

//! Lets the connection show how far a query is that takes longer than two seconds: a bar on the standard error, erased
//! when the query ends. Does nothing if that is no terminal. To be called before the first query.
void ShowProgress(duckdb::Connection &connection);

} // namespace skein::cli
