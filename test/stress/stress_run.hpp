#pragma once

#include "expected_answers.hpp"
#include "jittery_cluster.hpp"
#include "scenario.hpp"

#include "fuzz/random.hpp"

#include <atomic>
#include <functional>

namespace skein::test {

//! What a seed comes to: a cluster, settings, and what its sessions run.
struct StressPlan {
	uint64_t seed = 0;
	ClusterShape shape;
	//! The sessions'.
	std::vector<std::pair<std::string, std::string>> settings;
	Scenario scenario;

	//! `only`: the scenario's name; empty: the seed chooses. `clients`: 0: the scenario's.
	static StressPlan Make(uint64_t seed, const std::string &only, size_t clients);
	std::string Describe() const;
};

//! One run of a seed.
class StressRun {
public:
	StressRun(const StressPlan &plan, ExpectedAnswers &expected, const std::string &folder);

	//! Runs everything and returns what was wrong, in a line each. To be called once, on any thread.
	std::vector<std::string> Execute();
	//! Where it stands, for a run that hangs; from another thread.
	std::string Describe();
	size_t Queries() const {
		return queries_;
	}

private:
	//! The second time it does nothing.
	void StopCluster();
	void RunClient(duckdb::DuckDB &database, size_t client);
	//! Nothing if it has gone as it should.
	std::optional<std::string> RunQuery(duckdb::Connection &connection, const std::string &sql);
	//! Runs some of a query, or reads some of its rows, and leaves it.
	void Abandon(duckdb::Connection &connection, const std::string &sql, fuzz::Random &random);
	void Note(const std::string &finding);

	const StressPlan plan_;
	ExpectedAnswers &expected_;
	const std::string folder_;
	JitteryCluster cluster_;
	std::atomic<size_t> queries_{0};
	std::mutex mutex_;
	//! By client, what it runs.
	std::map<size_t, std::string> running_;
	std::vector<std::string> findings_;
};

} // namespace skein::test
