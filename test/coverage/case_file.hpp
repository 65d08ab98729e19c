#pragma once

#include <string>
#include <utility>
#include <vector>

namespace skein::test {

//! One way in which the cases of a section are run; a column of its table.
struct CoverageColumn {
	std::string title;
	//! SQL in which `$case` stands for that of the case.
	std::string sql = "$case";
	//! Settings that only this column has.
	std::vector<std::pair<std::string, std::string>> settings;
};

//! One row of a table.
struct CoverageCase {
	//! Where it starts, `FILE:LINE`.
	std::string place;
	std::string title;
	std::string sql;
	//! Statements before it, run without Skein.
	std::vector<std::string> before;
	//! A query that shows what the statement has done; without it, its own answer is compared.
	std::string after;
};

//! One table of the document: cases of a kind.
struct CoverageSection {
	std::string title;
	std::string text;
	//! What a case of this section is called.
	std::string subject = "case";
	std::vector<CoverageColumn> columns;
	//! The lines of a plan, by their first word, that a case is about: they are to run in several tasks. If the plan
	//! has none of them, as DuckDB has replaced them, any line will do, unless they are required.
	std::vector<std::string> focus;
	bool focus_is_required = false;
	//! Whether the table names the joins that DuckDB plans.
	bool shows_joins = false;
	//! Settings `name=value` with which the answers are compared once more.
	std::vector<std::pair<std::string, std::string>> again;
	std::vector<CoverageCase> cases;
	//! Names without a case: the name and why.
	std::vector<std::pair<std::string, std::string>> without;
};

//! Reads a file of cases:
//!
//!     section: Aggregate functions
//!     text: What stands above the table.
//!     subject: function
//!     focus: AGGREGATE               or `requires: DistributedLeaf`
//!     column: grouped: SELECT k, $case FROM fact GROUP BY k
//!     column: wide {skein_join=shuffle, skein_max_tasks=2}: ...     with settings of its own
//!     show: joins
//!     again: skein_join=shuffle
//!     without: LOGICAL_JOIN: the base of other classes
//!
//!     - median(v)                      a case whose title is its SQL
//!
//!     for: type: LEFT | RIGHT          each case from here to `end` once for each; `${type}` is the word
//!     case: ${type}, equality
//!     before: CREATE TABLE ...
//!     after: FROM ...
//!     	SELECT ...                   SQL, lines that start with a tab
//!     end
//!
//! Throws std::runtime_error with file and line for anything else.
std::vector<CoverageSection> ReadCases(const std::string &path);

} // namespace skein::test
