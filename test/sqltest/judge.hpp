#pragma once

#include "expectation.hpp"
#include "lane.hpp"
#include "sql_file.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace skein::test {

//! What is to be said of one statement that ran in both lanes.
struct Verdict {
	enum class Kind {
		//! Skein distributed it and gave what plain DuckDB gives.
		EQUAL,
		//! It gave the same without distributing it.
		LOCAL,
		//! It gave something else.
		DIFFERENT,
		//! Nothing can be said, as plain DuckDB itself gives another answer each time, or as the answer is a plan.
		OPEN
	};

	Kind kind = Kind::EQUAL;
	//! Why it is local or open, or what differs.
	std::string reason;
	//! Lines that show how two answers differ.
	std::vector<std::string> diff;
	//! What in plain DuckDB's answer is not what the file expects.
	std::optional<std::string> alone_mismatch;
};

//! Compares what the two lanes gave.
class Judge {
public:
	//! A statement in question: its record, its SQL, what the lanes gave, and how to run it once more: in plain DuckDB,
	//! and on the tables of the other lane without Skein.
	struct Case {
		const SqlRecord &record;
		const std::string &sql;
		const LaneOutcome &plain;
		const LaneOutcome &skein;
		//! Whether random values were written, by this statement or before: then the two databases differ.
		bool random_content = false;
		std::function<LaneOutcome()> repeat_plain;
		std::function<LaneOutcome()> repeat_skein_alone;
	};
	//! `expectation` outlives the judge.
	explicit Judge(Expectation &expectation) : expectation_(expectation) {
	}

	//! `plain` and `skein` are the lanes' connections that ran the statement.
	Verdict Decide(const Case &statement, duckdb::Connection &plain, duckdb::Connection &skein);

private:
	Verdict CompareAnswers(const Case &statement, duckdb::Connection &plain, duckdb::Connection &skein);
	Verdict CompareErrors(const Case &statement);
	std::optional<std::string> FindDifference(const Case &statement, const cli::Answer &expected,
											  const cli::Answer &actual, duckdb::Connection &plain);
	//! What is to be said of answers that differ.
	Verdict ExplainDifference(const Case &statement, const std::string &difference, bool is_select,
							  duckdb::Connection &plain);
	//! What the file finds wrong with plain DuckDB's outcome.
	std::optional<std::string> FindAloneMismatch(const Case &statement, const AnswerText *answer);

	Expectation &expectation_;
};

} // namespace skein::test
