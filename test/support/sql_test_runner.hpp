#pragma once

#include "configuration.hpp"
#include "oracle.hpp"
#include "sql_test_file.hpp"
#include "watchdog.hpp"

#include "duckdb.hpp"

#include <string>
#include <vector>

namespace skein::test {

//! A database in memory with Skein attached.
struct SqlTestDatabase {
	SqlTestDatabase();

	duckdb::unique_ptr<duckdb::DuckDB> database;
	duckdb::unique_ptr<duckdb::Connection> connection;
};

//! Runs one test file, its fixture once and the rest in any number of configurations, and reports on stderr what is
//! wrong.
class SqlTestRunner {
public:
	struct Options {
		//! Where extensions that are not built in lie.
		std::string extension_dir;
		//! The workers of configurations that want processes.
		std::string cluster;
		//! Failures of one configuration after which it is given up.
		size_t max_failures = 20;
		//! Whether to say on stderr what is run, for one that ends the process.
		bool trace = false;
	};
	//! `path` names the file in reports; `file` outlives the runner.
	SqlTestRunner(std::string path, const SqlTestFile &file, Options options);

	void RunFixture();
	void Run(const Configuration &configuration);

	size_t Failures() const {
		return failures_;
	}
	size_t Queries() const {
		return queries_;
	}

private:
	//! What one configuration's run is about.
	struct State {
		duckdb::Connection &connection;
		Oracle oracle;
		bool must_distribute = false;
		bool alone = false;
	};
	void Configure(duckdb::Connection &connection, const Configuration &configuration);
	void RunRecord(State &state, const SqlTestRecord &record);
	void RunStatement(State &state, const SqlTestRecord &record);
	void ExpectError(State &state, const SqlTestRecord &record);
	void RunQuery(State &state, const SqlTestRecord &record);
	void Require(State &state, const SqlTestRecord &record);
	void SetMode(State &state, const SqlTestRecord &record);
	void CheckDistributed(State &state, const SqlTestRecord &record);
	//! As RunSql(), but a query that hangs becomes an error.
	Outcome RunWatched(duckdb::Connection &connection, const SqlTestRecord &record);
	void Fail(const SqlTestRecord &record, const std::string &what);

	const std::string path_;
	const SqlTestFile &file_;
	const Options options_;
	Watchdog watchdog_;
	std::string configuration_;
	size_t failures_ = 0;
	size_t queries_ = 0;
};

} // namespace skein::test
