#pragma once

#include <string>
#include <vector>

namespace skein::test {

//! One thing that a test file asks for.
struct SqlTestRecord {
	enum class Kind { STATEMENT_OK, STATEMENT_ERROR, QUERY, REQUIRE, MODE };

	Kind kind = Kind::STATEMENT_OK;
	//! Where it starts in the file, from 1.
	size_t line = 0;
	//! The SQL; for REQUIRE the name of an extension, for MODE that of a mode.
	std::string text;
	//! QUERY: whether the lines of the expected block may come in any order.
	bool row_sort = false;
	//! QUERY: whether there is an expected block at all.
	bool has_expected = false;
	//! QUERY: the rows, values separated by tabs. STATEMENT_ERROR: what the message must contain.
	std::vector<std::string> expected;
};

//! A file in DuckDB's dialect of sqllogictest, of which it is a part:
//!
//!     # a comment
//!     require tpch                     an extension, built in or beside the engine; missing is a failure
//!     statement ok                     \ followed by SQL up to an empty line, for the error with `----` and a part of
//!     statement error                  / the message below
//!     query II rowsort                 followed by SQL and, if wanted, `----` and the rows with tabs between the
//!     values foreach name a b c ... endloop   `${name}` in between stands for each word; may be nested fixture ...
//!     endfixture           ours: runs once for all configurations, in a database of its own, alone mode
//!     must_distribute             ours: from here on every query has to be distributed (`may_distribute`: not) mode
//!     alone                       ours: from here on statements are not distributed (`distributed`: they are)
//!
//! `__TEST_DIR__` in SQL is a folder of the file's own.
struct SqlTestFile {
	std::vector<SqlTestRecord> fixture;
	std::vector<SqlTestRecord> records;

	//! Throws std::runtime_error, with file and line, for what is not in the dialect.
	static SqlTestFile Read(const std::string &path, const std::string &test_dir);
};

} // namespace skein::test
