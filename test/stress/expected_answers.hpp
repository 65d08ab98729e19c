#pragma once

#include "test/support/oracle.hpp"

#include <map>
#include <mutex>

namespace skein::test {

//! Plain DuckDB's answers, each found once. Thread-safe.
class ExpectedAnswers {
public:
	explicit ExpectedAnswers(const std::string &folder);

	//! Returns what differs from plain DuckDB's answer, in one line, or nothing.
	std::optional<std::string> FindDifference(const std::string &sql, const Outcome &actual);

private:
	Outcome RunLocked(const std::string &sql);

	std::mutex mutex_;
	duckdb::DuckDB database_;
	duckdb::Connection connection_;
	std::map<std::string, cli::Answer> answers_;
};

} // namespace skein::test
