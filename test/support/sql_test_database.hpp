#pragma once

#include "duckdb.hpp"

namespace skein::test {

//! A database in memory with Skein attached.
struct SqlTestDatabase {
	SqlTestDatabase();

	duckdb::unique_ptr<duckdb::DuckDB> database;
	duckdb::unique_ptr<duckdb::Connection> connection;
};

} // namespace skein::test
