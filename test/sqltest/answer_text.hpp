#pragma once

#include "cli/answer_comparison.hpp"

#include "duckdb.hpp"

#include <string>
#include <vector>

namespace skein::test {

//! The values of an answer as test files write them: NULL, `(empty)`, 0 and 1 for BOOLEAN, else DuckDB's text.
struct AnswerText {
	std::vector<duckdb::LogicalType> types;
	std::vector<std::vector<std::string>> rows;

	//! Texts depend on settings of the session, like its time zone.
	static AnswerText From(duckdb::Connection &connection, const cli::Answer &answer);
	bool operator==(const AnswerText &other) const {
		return rows == other.rows;
	}
	AnswerText Sorted() const;
};

//! The rows that two answers do not share, one a line, `-` for those of the first and `+` for those of the second. Not
//! more than a few of each.
std::vector<std::string> SmallDiff(const AnswerText &expected, const AnswerText &actual);

} // namespace skein::test
