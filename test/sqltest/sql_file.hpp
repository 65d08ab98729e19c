#pragma once

#include <string>
#include <vector>

namespace skein::test {

//! `onlyif x=1`, `skipif x>=1`: compares the variable of a loop that runs. `=` and `<>` compare texts, the others
//! numbers.
struct LoopCondition {
	enum class Comparison { EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL };

	std::string variable;
	Comparison comparison = Comparison::EQUAL;
	std::string value;
	//! Whether the record is left out where the condition holds, or where it does not.
	bool skip_if = false;
};

//! One thing that a test file asks for. Names like `${x}` and `__TEST_DIR__` are still in its texts.
struct SqlRecord {
	enum class Kind {
		STATEMENT,
		QUERY,
		LOOP,
		REQUIRE,
		REQUIRE_ENV,
		TEST_ENV,
		LOAD,
		RESTART,
		RECONNECT,
		SLEEP,
		UNZIP,
		SET_SEED,
		IGNORE_ERRORS,
		RESET_LABEL,
		HASH_THRESHOLD,
		CONTINUE,
		MODE
	};
	enum class Expects { SUCCESS, FAILURE, EITHER };
	enum class Sort { NONE, ROWS, VALUES };

	Kind kind = Kind::STATEMENT;
	//! Where it starts in the file, from 1.
	size_t line = 0;
	//! All must hold.
	std::vector<LoopCondition> conditions;
	//! STATEMENT, QUERY: the SQL, and the name of the connection that runs it, empty for the file's main one.
	std::string sql;
	std::string connection;
	//! What must come of a STATEMENT; a QUERY must succeed.
	Expects expects = Expects::SUCCESS;
	//! QUERY: how rows are sorted before they are compared, its label, how many columns it has (0: any number).
	Sort sort = Sort::NONE;
	std::string label;
	size_t columns = 0;
	//! QUERY: whether there is an expected block. Its lines: values, rows, one hash or one file. STATEMENT: the lines
	//! of the expected error.
	bool has_expected = false;
	std::vector<std::string> expected;
	//! What the other kinds are about: the words after the first.
	std::vector<std::string> words;
	//! LOOP: the variable, or several with commas between; its values, in which as many values have commas between;
	//! whether the file wants the rounds to run at the same time.
	std::string variable;
	std::vector<std::string> values;
	bool concurrent = false;
	std::vector<SqlRecord> body;

	//! The words with blanks between, and the expected lines with line ends between.
	std::string WordText() const;
	std::string ExpectedText() const;
};

//! A file in DuckDB's dialect of sqllogictest: records with empty lines or comments (`#`) between.
//!
//!     statement ok|error|maybe [connection]         SQL; for error and maybe `----` and the message, or a part of it
//!     query TTI [nosort|rowsort|valuesort|connection] [label]
//!                                                    SQL, `----` and what it gives
//!     foreach x a b c / loop i 0 10 / concurrentforeach / concurrentloop / endloop / continue
//!     onlyif duckdb, skipif x=1                      before a record
//!     require NAME ..., require-env, test-env, load, restart, reconnect, sleep, unzip, set, reset label,
//!     hash-threshold, mode skip|unskip, tags, halt
//!
//! and, of our own: `fixture` ... `endfixture`, run once for all configurations, in a database of its own;
//! `mode must_distribute` (from here on every query has to be distributed) and `may_distribute`; `mode alone` (from
//! here on statements are not distributed) and `distributed`; `query *` for any number of columns.
struct SqlFile {
	std::vector<SqlRecord> fixture;
	std::vector<SqlRecord> records;

	//! Throws std::runtime_error, `FILE:LINE: what`, for what is not in the dialect.
	static SqlFile Read(const std::string &path);
	//! As Read(), for a file's text; `path` is for messages.
	static SqlFile Parse(const std::string &path, const std::string &text);
};

} // namespace skein::test
