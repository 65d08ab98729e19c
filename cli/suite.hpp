#pragma once

#include "interrupt.hpp"

#include <optional>
#include <string>
#include <vector>

namespace skein::cli {

struct SuiteQuery {
	//! From 1, as --queries counts.
	size_t number = 0;
	std::string name;
	std::string sql;
};

//! Queries and the tables that they are about.
struct Suite {
	//! `tpch`, `tpcds` or the folder's name.
	std::string name;
	//! Nothing for a suite that knows no scales.
	std::optional<double> scale;
	//! Where the tables' files are; empty when there are none.
	std::string data;
	//! Each is a view over the Parquet files in the folder of this name below `data`.
	std::vector<std::string> tables;
	std::vector<SuiteQuery> queries;
};

//! How the user names a suite.
struct SuiteOptions {
	//! `tpch`, `tpcds` or a folder of SQL files.
	std::string suite;
	double scale = 1;
	//! Empty: `data/tpch-sf1` below the current folder, for TPC-H at scale 1.
	std::string data;
	//! Where DuckDB's extensions lie; empty: the usual places.
	std::string extension_dir;
	//! Numbers or names of queries; empty: all.
	std::vector<std::string> queries;
};

//! Returns the suite, with its data in place: what is missing of TPC's is generated.
//! Throws CommandError when it cannot be had.
Suite OpenSuite(const SuiteOptions &options, Interrupt &interrupt);

//! Makes the suite's tables known to `connection`'s database.
void CreateViews(const Suite &suite, duckdb::Connection &connection);

} // namespace skein::cli
