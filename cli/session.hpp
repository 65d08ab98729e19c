#pragma once

#include "cluster_option.hpp"
#include "interrupt.hpp"

#include "duckdb.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace skein::cli {

//! What commands that run queries let the user choose.
struct SessionOptions {
	//! A database file; empty: a database in memory.
	std::string database;
	//! Each `name=value`, set after the cluster's own settings.
	std::vector<std::string> settings;
	ClusterOption cluster;

	//! Adds --database.
	void AddDatabaseTo(CLI::App &app);
	//! Adds --set and the options of the cluster.
	void AddTo(CLI::App &app);
};

//! Splits `name=value`. Throws CommandError (wrong usage) when it is anything else.
std::pair<std::string, std::string> ParseSetting(const std::string &text);

//! A DuckDB with Skein in it, and one connection whose queries go to the cluster.
//!
//! Starts the cluster; to be created before this process has threads. Used by one thread, except that Ctrl-C
//! interrupts.
class Session {
public:
	explicit Session(const SessionOptions &options);
	~Session();

	duckdb::Connection &Connection() {
		return *connection_;
	}
	//! Opens another connection to the same database, on which nothing is set.
	duckdb::Connection OpenConnection() {
		return duckdb::Connection(*database_);
	}
	const Cluster &Workers() const {
		return cluster_;
	}
	Interrupt &Interrupts() {
		return interrupt_;
	}

	//! Parses `sql`; an error of the parser is thrown.
	duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>> Parse(const std::string &sql);
	//! Runs one statement up to its first rows; the rest comes with QueryResult::Fetch(). An error is thrown.
	duckdb::unique_ptr<duckdb::QueryResult> Stream(duckdb::unique_ptr<duckdb::SQLStatement> statement);

private:
	// In this order: processes, then the block of SIGINT, then DuckDB's threads.
	Cluster cluster_;
	Interrupt interrupt_;
	duckdb::unique_ptr<duckdb::DuckDB> database_;
	duckdb::unique_ptr<duckdb::Connection> connection_;
};

//! Sets a setting on `connection`, given as text. DuckDB's error is thrown as wrong usage.
void ApplySetting(duckdb::Connection &connection, const std::string &name, const std::string &value);

//! Whether an error means that the cluster, or a worker of it, could not be reached.
bool IsClusterUnreachable(const duckdb::ErrorData &error);

//! Runs `sql` to its end. An error is thrown.
duckdb::unique_ptr<duckdb::MaterializedQueryResult> Query(duckdb::Connection &connection, const std::string &sql);

} // namespace skein::cli
