#pragma once

#include <string>
#include <vector>

namespace skein::fuzz {

//! The types that generated expressions have. Widths of integers and decimals are left to DuckDB.
enum class SqlType {
	BOOLEAN,
	INTEGER,
	HUGEINT,
	DECIMAL,
	DOUBLE,
	VARCHAR,
	DATE,
	TIMESTAMP,
	TIMESTAMPTZ,
	TIME,
	INTERVAL,
	BLOB,
	UUID,
	INTEGER_LIST,
	VARCHAR_LIST,
	STRUCT,
	MAP,
	ENUM,
	ARRAY,
	BIT,
	TIMETZ,
	UNION,
	JSON
};

const std::vector<SqlType> &AllSqlTypes();
//! As a cast names it. TypeStatements() makes those that are not DuckDB's.
const char *SqlTypeName(SqlType type);
//! Statements that make the types that are named.
const std::vector<std::string> &TypeStatements();
//! Whether addition and average are defined.
bool IsNumeric(SqlType type);
//! Whether a value holds others.
bool IsNested(SqlType type);

//! A column of a table or of a query.
struct Column {
	std::string name;
	SqlType type;
};

} // namespace skein::fuzz
