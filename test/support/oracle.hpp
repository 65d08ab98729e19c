#pragma once

#include "cli/answer_comparison.hpp"

#include "duckdb.hpp"

#include <functional>
#include <optional>
#include <string>

namespace skein::test {

//! What one statement gave: its rows, or its error.
struct Outcome {
	std::optional<cli::Answer> answer;
	duckdb::ErrorData error;

	//! `true`, or the first line of the error.
	std::string ErrorLine() const;
};

//! Runs `sql` on `connection` to its end.
Outcome RunSql(duckdb::Connection &connection, const std::string &sql);

//! Returns what differs between two answers to `sql`, in one line, or nothing. Where a top-level ORDER BY leaves ties
//! at a LIMIT, any of the tied rows will do; `run_alone` answers then the query without that limit. `connection`
//! parses.
std::optional<std::string> FindDifference(duckdb::Connection &connection, const std::string &sql,
										  const cli::Answer &expected, const cli::Answer &actual,
										  const std::function<Outcome(const std::string &)> &run_alone);

//! Compares distributed answers with those of plain DuckDB on the same connection, which knows the same tables,
//! settings and open transaction.
class Oracle {
public:
	explicit Oracle(duckdb::Connection &connection) : connection_(connection) {
	}

	//! Runs `sql` without Skein.
	Outcome RunAlone(const std::string &sql);
	//! As the function above. Both answers must be there.
	std::optional<std::string> FindDifference(const std::string &sql, const cli::Answer &expected,
											  const cli::Answer &actual);

private:
	duckdb::Connection &connection_;
};

} // namespace skein::test
