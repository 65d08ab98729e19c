#pragma once

#include "fuzz/fuzz_configuration.hpp"
#include "test/support/oracle.hpp"
#include "test/support/watchdog.hpp"
#include "test/support/worker_processes.hpp"

#include "duckdb.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace skein::fuzz {

enum class Verdict {
	EQUAL,
	//! Both fail in the same way.
	EQUAL_ERROR,
	//! Plain DuckDB takes too long for a query of this kind, or cannot bind it at all.
	SKIPPED,
	//! Plain DuckDB gives another answer with several threads.
	UNSTABLE,
	DIFFERENT,
	HANG
};

const char *VerdictName(Verdict verdict);

//! What became of one query in one configuration.
struct Result {
	Verdict verdict = Verdict::EQUAL;
	bool distributed = false;
	//! Why it was not distributed.
	std::string local_reason;
	//! What differs, in one line.
	std::string what;
	//! The kind of difference: two faults of one kind may have one cause.
	std::string kind;
	//! The start of both answers, for a report.
	std::string expected;
	std::string actual;
};

//! Runs queries alone and distributed, and compares. Keeps its databases and worker processes.
class Contest {
public:
	struct Options {
		//! Where the tables' files are.
		std::string data;
		//! The command skein, for worker processes.
		std::string skein;
		size_t processes = 3;
		std::chrono::seconds limit{20};
	};
	//! Starts the worker processes; to be created before this process has threads.
	explicit Contest(Options options);
	~Contest();

	//! `row_order`: the rows must come in plain DuckDB's order. `before_distributed` is called when plain DuckDB has
	//! answered.
	Result Run(const std::string &sql, bool row_order, const FuzzConfiguration &configuration,
			   const std::function<void()> &before_distributed = {});
	//! Whether plain DuckDB answers the same again, also with several threads. Only if the last Run() was this one and
	//! found a difference.
	bool IsStable(const std::string &sql, bool row_order);
	//! Parses and writes queries.
	duckdb::Connection &Parser();
	//! Whether a worker process was lost, after which nothing runs that needs it.
	bool LostWorker() const {
		return lost_worker_;
	}

private:
	struct Lane;
	Lane &PlainLane(size_t threads);
	Lane &DistributedLane(const FuzzConfiguration &configuration);
	test::Outcome RunPlain(Lane &lane, const std::string &sql, bool &too_slow);
	//! Whether plain DuckDB fails too where it has as many threads as all tasks together, and the workers' memory.
	bool PlainRunsOutOfMemory(const std::string &sql, const FuzzConfiguration &configuration);
	Result Compare(const std::string &sql, bool row_order, const test::Outcome &alone,
				   const test::Outcome &distributed);
	std::optional<std::string> FindDifference(const std::string &sql, bool row_order, const cli::Answer &expected,
											  const cli::Answer &actual);
	void Configure(Lane &lane, const FuzzConfiguration &configuration);

	const Options options_;
	std::unique_ptr<test::WorkerProcesses> processes_;
	std::vector<std::string> addresses_;
	test::Watchdog plain_watchdog_;
	test::Watchdog watchdog_;
	std::map<std::string, std::unique_ptr<Lane>> lanes_;
	//! What plain DuckDB answered last.
	std::unique_ptr<test::Outcome> alone_;
	bool lost_worker_ = false;
};

} // namespace skein::fuzz
