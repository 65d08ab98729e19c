#pragma once

#include "duckdb.hpp"

#include <optional>
#include <string>
#include <vector>

namespace skein::cli {

//! A query's whole answer.
struct Answer {
	duckdb::vector<std::string> names;
	duckdb::vector<duckdb::LogicalType> types;
	std::vector<duckdb::vector<duckdb::Value>> rows;

	//! Values of VARIANT, also nested, become texts.
	static Answer From(duckdb::MaterializedQueryResult &result);
};

//! The columns of an answer by which the query's text orders its rows, most important first.
//!
//! Ends before the first sort key that is no column of the answer: what follows it cannot be seen there.
//! Empty for a query that orders nothing at its top.
std::vector<duckdb::idx_t> FindOrder(const duckdb::SQLStatement &statement, const Answer &answer);

//! Returns the query without the LIMIT and OFFSET at its top, or nothing if it has none.
duckdb::unique_ptr<duckdb::SQLStatement> WithoutLimit(const duckdb::SQLStatement &statement);

//! Compares two answers to one query; returns what differs, in one line, or nothing.
//!
//! Names and types must be the same, and the rows the same multiset: DOUBLE values, also inside nested ones, agree
//! within a relative 1e-9, as sums depend on the order of their terms; all other values exactly. NULLs agree, and so do
//! NaNs. At each position the values of the `order` columns must agree; rows equal in these may be permuted.
std::optional<std::string> FindDifference(const Answer &expected, const Answer &actual,
										  const std::vector<duckdb::idx_t> &order);

//! As FindDifference(), for a query with a limit, whose rows are a choice where its order leaves ties.
//!
//! `actual` may hold other rows than `expected`, if they are in the answer without the limit, `unlimited`, and the
//! values of the `order` columns agree with those of `expected` at each position.
std::optional<std::string> FindIllegalChoice(const Answer &expected, const Answer &unlimited, const Answer &actual,
											 const std::vector<duckdb::idx_t> &order);

} // namespace skein::cli
