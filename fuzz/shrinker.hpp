#pragma once

#include "duckdb.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace skein::fuzz {

//! Makes a query as short as it gets while something stays true of it.
//!
//! Method: greedy; each edit of the parsed query (a clause, a column, a join, an expression less; see EditWalk) is
//! tried from the outermost to the innermost, and kept if the test still holds, until none is left that helps.
class Shrinker {
public:
	//! `parser` parses; it runs nothing.
	Shrinker(duckdb::Connection &parser, std::chrono::seconds limit) : parser_(parser), limit_(limit) {
	}

	//! Returns `sql` itself, if it is as short as it gets, or if the test does not hold for it when DuckDB has parsed
	//! and written it.
	std::string Shrink(const std::string &sql, const std::function<bool(const std::string &)> &still_holds);

private:
	duckdb::Connection &parser_;
	const std::chrono::seconds limit_;
};

} // namespace skein::fuzz
