#pragma once

#include "answer_comparison.hpp"

namespace skein::cli {

//! Checks answers to one query against plain DuckDB's.
class AnswerCheck {
public:
	//! `alone` does not distribute and outlives the check; `expected` is its answer to `sql`.
	AnswerCheck(duckdb::Connection &alone, const std::string &sql, Answer expected);
	//! Returns what differs, in one line, or nothing.
	std::optional<std::string> FindDifferenceTo(const Answer &actual);
	//! Whether an answer held other rows than expected where the limit leaves a choice.
	bool SawTies() const {
		return saw_ties_;
	}

private:
	duckdb::Connection &alone_;
	duckdb::unique_ptr<duckdb::SQLStatement> statement_;
	Answer expected_;
	std::vector<duckdb::idx_t> order_;
	//! The answer without the query's limit, once it was needed.
	std::optional<Answer> unlimited_;
	bool saw_ties_ = false;
};

} // namespace skein::cli
