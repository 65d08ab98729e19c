#pragma once

#include "bench_report.hpp"
#include "session.hpp"

#include <functional>

namespace skein::cli {

struct BenchRunOptions {
	size_t runs = 3;
	//! Compare every answer with plain DuckDB's.
	bool verify = false;
	//! Time plain DuckDB, too.
	bool alone = false;
};

//! Runs queries over the session's cluster and, where asked, in plain DuckDB: alone, distributed, alone, distributed,
//! ... Both are connections to one database in this process.
class BenchRunner {
public:
	BenchRunner(Session &session, duckdb::Connection &alone, const BenchRunOptions &options);

	//! Runs one query. What fails in it is in the report; Ctrl-C and an unreachable cluster are thrown.
	QueryReport Run(const SuiteQuery &query);

private:
	struct Measurement {
		duckdb::unique_ptr<duckdb::MaterializedQueryResult> result;
		double milliseconds = 0;
		std::optional<double> cpu_seconds;
	};
	//! CPU time so far, as far as it is known.
	using CpuClock = std::function<std::optional<double>()>;
	Measurement Measure(duckdb::Connection &connection, const std::string &sql, const CpuClock &cpu_clock);
	Measurement MeasureAlone(const std::string &sql);
	Measurement MeasureDistributed(const std::string &sql);
	//! The runs of one query, into `report`.
	void RunAll(const SuiteQuery &query, QueryReport &report);

	Session &session_;
	duckdb::Connection &alone_;
	BenchRunOptions options_;
};

} // namespace skein::cli
