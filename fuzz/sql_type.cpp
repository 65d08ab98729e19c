#include "fuzz/sql_type.hpp"

#include <stdexcept>

namespace skein::fuzz {

const std::vector<SqlType> &AllSqlTypes() {
	static const std::vector<SqlType> ALL{
		SqlType::BOOLEAN,  SqlType::INTEGER, SqlType::HUGEINT,	 SqlType::DECIMAL,		SqlType::DOUBLE,
		SqlType::VARCHAR,  SqlType::DATE,	 SqlType::TIMESTAMP, SqlType::TIMESTAMPTZ,	SqlType::TIME,
		SqlType::INTERVAL, SqlType::BLOB,	 SqlType::UUID,		 SqlType::INTEGER_LIST, SqlType::VARCHAR_LIST,
		SqlType::STRUCT,   SqlType::MAP,	 SqlType::ENUM,		 SqlType::ARRAY,		SqlType::BIT,
		SqlType::TIMETZ,   SqlType::UNION,	 SqlType::JSON};
	return ALL;
}

const char *SqlTypeName(SqlType type) {
	switch (type) {
	case SqlType::BOOLEAN:
		return "BOOLEAN";
	case SqlType::INTEGER:
		return "INTEGER";
	case SqlType::HUGEINT:
		return "HUGEINT";
	case SqlType::DECIMAL:
		return "DECIMAL(18,3)";
	case SqlType::DOUBLE:
		return "DOUBLE";
	case SqlType::VARCHAR:
		return "VARCHAR";
	case SqlType::DATE:
		return "DATE";
	case SqlType::TIMESTAMP:
		return "TIMESTAMP";
	case SqlType::TIMESTAMPTZ:
		return "TIMESTAMPTZ";
	case SqlType::TIME:
		return "TIME";
	case SqlType::INTERVAL:
		return "INTERVAL";
	case SqlType::BLOB:
		return "BLOB";
	case SqlType::UUID:
		return "UUID";
	case SqlType::INTEGER_LIST:
		return "INTEGER[]";
	case SqlType::VARCHAR_LIST:
		return "VARCHAR[]";
	case SqlType::STRUCT:
		return "STRUCT(a INTEGER, b VARCHAR)";
	case SqlType::MAP:
		return "MAP(VARCHAR, INTEGER)";
	case SqlType::ENUM:
		return "mood";
	case SqlType::ARRAY:
		return "INTEGER[2]";
	case SqlType::BIT:
		return "BIT";
	case SqlType::TIMETZ:
		return "TIMETZ";
	case SqlType::UNION:
		return "mixed";
	case SqlType::JSON:
		return "JSON";
	}
	throw std::logic_error("unknown type");
}

const std::vector<std::string> &TypeStatements() {
	static const std::vector<std::string> STATEMENTS{"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Ä', '')",
													 "CREATE TYPE mixed AS UNION(n INTEGER, t VARCHAR)"};
	return STATEMENTS;
}

bool IsNumeric(SqlType type) {
	return type == SqlType::INTEGER || type == SqlType::DECIMAL || type == SqlType::DOUBLE;
}

bool IsNested(SqlType type) {
	return type == SqlType::INTEGER_LIST || type == SqlType::VARCHAR_LIST || type == SqlType::STRUCT ||
		   type == SqlType::MAP || type == SqlType::ARRAY || type == SqlType::UNION;
}

} // namespace skein::fuzz
