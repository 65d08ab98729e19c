#pragma once

#include "duckdb.hpp"

#include <string>

namespace skein::test {

//! Writes the files of the tables below `folder`.
void WriteStressTables(const std::string &folder);

//! Makes the tables in a database: `facts` (64 files of 64 rows: id, k, v, t), `keys` (4 files of 30 rows: k, name),
//! and `owned`, which only the session can read (600 rows: id, k, v).
void OpenStressTables(duckdb::Connection &connection, const std::string &folder);

} // namespace skein::test
