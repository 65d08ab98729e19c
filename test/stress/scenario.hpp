#pragma once

#include <string>
#include <utility>
#include <vector>

namespace skein::test {

//! Queries that strain an exchange in one way.
struct Scenario {
	std::string name;
	//! Sessions that run queries at the same time, and how many each.
	size_t clients = 2;
	size_t queries_of_a_client = 2;
	//! Settings that make it what it is; stronger than those of the seed.
	std::vector<std::pair<std::string, std::string>> settings;
	//! Over the tables of tables.hpp. Their answers do not depend on the order in which rows come.
	std::vector<std::string> queries;
	//! Sessions leave some queries before their end.
	bool abandons = false;
	//! So many tasks at the same time that DuckDB's operators alone need more than the smallest memory limit.
	bool needs_memory = false;
};

const std::vector<Scenario> &AllScenarios();

} // namespace skein::test
