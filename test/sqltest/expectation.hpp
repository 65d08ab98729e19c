#pragma once

#include "answer_text.hpp"
#include "sql_file.hpp"
#include "variables.hpp"

#include "duckdb.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skein::test {

//! Compares answers and errors with what a test file expects of them, as DuckDB's own runner does: numbers within one
//! per cent where their texts differ, `<REGEX>:` and `<!REGEX>:` against whole values, hashes, labels and files.
//!
//! Belongs to one run of one file: remembers the answers of labels.
class Expectation {
public:
	explicit Expectation(const Variables &variables);

	//! Answers of more values than that are compared by their hash; 0: no limit.
	void SetHashThreshold(size_t values) {
		hash_threshold_ = values;
	}
	void ResetLabel(const std::string &label) {
		labels_.erase(label);
	}

	//! What differs from the query's expected block, in one line, or nothing. Without a block nothing is expected.
	std::optional<std::string> FindMismatch(const SqlRecord &query, const AnswerText &answer);
	//! As FindMismatch(), for values in any order. Nothing for hashes and labels, which depend on it.
	std::optional<std::string> FindMismatchInAnyOrder(const SqlRecord &query, const AnswerText &answer);
	//! Whether an error's message is what the block of a statement expects; true without a block.
	bool ErrorMatches(const SqlRecord &statement, const std::string &message);

private:
	using Values = std::vector<std::string>;

	std::optional<std::string> FindHashMismatch(const SqlRecord &query, const Values &values);
	std::optional<std::string> FindValueMismatch(const SqlRecord &query, const AnswerText &answer, bool any_order);
	std::optional<Values> ExpectedValues(const SqlRecord &query, const AnswerText &answer, std::string &mismatch);
	Values ReadFile(const std::string &path, size_t columns);
	bool ValueMatches(const duckdb::LogicalType &type, const std::string &expected, const std::string &actual);
	bool RegexMatches(const std::string &expected, const std::string &actual);

	const Variables &variables_;
	//! For casts and patterns.
	duckdb::DuckDB database_;
	duckdb::Connection connection_;
	size_t hash_threshold_ = 0;
	//! The hash of the first answer of each label.
	std::map<std::string, std::string> labels_;
};

} // namespace skein::test
