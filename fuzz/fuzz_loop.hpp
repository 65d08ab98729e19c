#pragma once

#include "fuzz/catalog.hpp"
#include "fuzz/contest.hpp"
#include "fuzz/generator.hpp"
#include "fuzz/report.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace skein::fuzz {

struct FuzzOptions {
	uint64_t first_seed = 1;
	uint64_t count = 1000;
	//! 0: no limit.
	double seconds = 0;
	//! In which configurations to run each query; empty: one that follows from the seed.
	std::vector<FuzzConfiguration> configurations;
	bool shrink = true;
	//! Ends with the first finding.
	bool until_found = false;
	std::chrono::seconds shrink_limit{60};
	size_t jobs = 1;
	//! Queries with one of these are not run.
	FeatureSet without;
	//! To run instead of generated queries.
	std::string sql;
	bool row_order = false;
	//! A file that findings are appended to; empty: none.
	std::string log;
	//! Name of this program, for the command line that reproduces a finding.
	std::string program;
	Contest::Options contest;
};

//! The configurations in which the query of a seed, which has these features, is run.
std::vector<FuzzConfiguration> ConfigurationsOf(const FuzzOptions &options, uint64_t seed, const FeatureSet &features);

//! The query of a seed, or the one given.
GeneratedQuery QueryOf(const Catalog &catalog, const FuzzOptions &options, uint64_t seed);

//! Writes a finding to stdout and to the log, in one piece.
void WriteFinding(const FuzzOptions &options, const std::string &text);

//! The line that runs one seed again.
std::string CommandLine(const FuzzOptions &options, uint64_t seed, const FuzzConfiguration &configuration);

//! Runs the seeds of one process, one after the other.
class FuzzLoop {
public:
	//! `tell` gets lines: `alone SEED` and `run SEED`, when the query is begun in plain DuckDB and distributed, `end
	//! RESULT`, `shrink SEED`.
	FuzzLoop(const FuzzOptions &options, std::function<void(const std::string &)> tell);

	//! Runs the seed in all of its configurations. Returns false when the process has to be replaced.
	bool Run(uint64_t seed);

private:
	void ReportDifference(uint64_t seed, const GeneratedQuery &query, const FuzzConfiguration &configuration,
						  const Result &result);
	std::string Shrink(const GeneratedQuery &query, const FuzzConfiguration &configuration, const Result &result,
					   Result &shrunk);

	const FuzzOptions &options_;
	const std::function<void(const std::string &)> tell_;
	const Catalog catalog_;
	Contest contest_;
	//! How often each kind of error was found: the same one is not shrunk for ever.
	std::map<std::string, size_t> kinds_;
};

} // namespace skein::fuzz
