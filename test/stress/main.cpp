//! Runs queries that strain exchanges, on workers with a network that delays by seed: no run may hang, every answer is
//! plain DuckDB's, and nothing of a query is left. See docs/testing.md.

#include "stress_run.hpp"
#include "tables.hpp"

#include "test/support/watchdog.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <thread>

namespace skein::test {
namespace {

struct StressOptions {
	uint64_t first_seed = 1;
	size_t runs = 40;
	std::string scenario;
	size_t clients = 0;
	//! After so many seconds a run hangs; those in which the process was stopped do not count.
	size_t limit = 120;
	bool verbose = false;
};

//! Runs `job` on a thread of its own; returns whether it has ended within so many seconds. The thread is joined then.
bool EndsWithin(size_t seconds, const std::function<void()> &job) {
	std::mutex mutex;
	std::condition_variable changed;
	auto ended = false;
	std::thread thread([&] {
		job();
		std::lock_guard<std::mutex> guard(mutex);
		ended = true;
		changed.notify_all();
	});
	std::unique_lock<std::mutex> lock(mutex);
	for (size_t second = 0; second < seconds && !ended; second++) {
		changed.wait_for(lock, std::chrono::seconds(1), [&] { return ended; });
	}
	if (!ended) {
		// Whoever called reports it and ends the process.
		thread.detach();
		lock.release();
		return false;
	}
	lock.unlock();
	thread.join();
	return true;
}

//! Runs one seed; returns whether all was well. A run that hangs ends the process.
bool RunSeed(const StressOptions &options, uint64_t seed, ExpectedAnswers &expected, const std::string &folder,
			 size_t &queries) {
	auto plan = StressPlan::Make(seed, options.scenario, options.clients);
	if (options.verbose) {
		std::cout << plan.Describe() << std::endl;
	}
	StressRun run(plan, expected, folder);
	std::vector<std::string> findings;
	if (!EndsWithin(options.limit, [&] { findings = run.Execute(); })) {
		std::cerr << "HANGS: " << plan.Describe() << std::endl;
		PrintStacks();
		std::cerr << run.Describe() << std::endl;
		std::_Exit(1);
	}
	queries += run.Queries();
	for (auto &finding : findings) {
		std::cout << plan.Describe() << "\n    " << finding << std::endl;
	}
	return findings.empty();
}

int Run(const StressOptions &options) {
	TemporaryFolder folder;
	WriteStressTables(folder.Path());
	ExpectedAnswers expected(folder.Path());
	size_t queries = 0;
	size_t bad = 0;
	std::chrono::duration<double> longest{0};
	uint64_t slowest = 0;
	for (uint64_t i = 0; i < options.runs; i++) {
		auto began_at = std::chrono::steady_clock::now();
		bad += RunSeed(options, options.first_seed + i, expected, folder.Path(), queries) ? 0 : 1;
		auto took = std::chrono::steady_clock::now() - began_at;
		if (took > longest) {
			longest = took;
			slowest = options.first_seed + i;
		}
	}
	std::cout << options.runs << " runs, " << queries << " queries, " << bad
			  << " runs with findings, none hangs; the longest took " << longest.count() << " s (seed " << slowest
			  << ")" << std::endl;
	return bad == 0 ? 0 : 1;
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	skein::test::StressOptions options;
	CLI::App app("Queries that strain exchanges, on a network that delays by seed");
	app.add_option("--seed", options.first_seed, "The first seed");
	app.add_option("--runs", options.runs, "How many seeds");
	app.add_option("--scenario", options.scenario,
				   "diamonds, broadcasts, crowd, early ends or merges; by default what "
				   "the seed says");
	app.add_option("--clients", options.clients, "Sessions at the same time; by default what the scenario says");
	app.add_option("--limit", options.limit, "Seconds after which a run hangs");
	app.add_flag("--verbose", options.verbose, "Says what each seed comes to");
	CLI11_PARSE(app, argc, argv);
	try {
		return skein::test::Run(options);
	} catch (const std::exception &error) {
		std::cerr << "exchange_stress: " << duckdb::ErrorData(error).Message() << '\n';
		return 2;
	}
}
