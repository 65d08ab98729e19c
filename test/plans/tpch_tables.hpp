#pragma once

#include "duckdb.hpp"

#include <string>

namespace skein::test {

//! Runs `sql`; throws std::runtime_error if it fails.
void RunOrThrow(duckdb::Connection &connection, const std::string &sql);

//! Makes the tables of TPC-H at a scale, as `0.01`, as views of Parquet files in `folder`, the larger ones of four
//! files with several row groups. `extensions`: where DuckDB's extensions lie. Leaves `skein_mode` off.
void MakeTpchTables(duckdb::Connection &connection, const std::string &scale, const std::string &extensions,
					const std::string &folder);

//! The same of TPC-DS.
void MakeTpcdsTables(duckdb::Connection &connection, const std::string &scale, const std::string &extensions,
					 const std::string &folder);

} // namespace skein::test
