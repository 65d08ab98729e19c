#pragma once

#include "duckdb.hpp"

#include "duckdb/planner/logical_operator.hpp"

#include <set>
#include <string>

namespace skein::test {

//! Kinds of things that plans are made of, under DuckDB's names for them.
struct Inventory {
	std::set<std::string> operators;
	std::set<std::string> join_types;
	std::set<std::string> windows;
	//! Each join with its type, `COMPARISON_JOIN INNER`.
	std::set<std::string> joins;

	//! All that the engine knows, except for joins.
	static Inventory OfEngine();

	void Add(const Inventory &other);
	//! Adds what is in a plan.
	void AddPlan(duckdb::LogicalOperator &plan);
};

} // namespace skein::test
