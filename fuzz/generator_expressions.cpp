#include "fuzz/generator.hpp"

namespace skein::fuzz {

std::string Generator::Expression(SqlType type, const Scope &scope, int depth) {
	if (type == SqlType::BOOLEAN) {
		return Boolean(scope, depth);
	}
	auto column = ColumnOf(type, scope);
	auto leaf = depth <= 0 || random_.Chance(55);
	if (column && (leaf || random_.Chance(30))) {
		return *column;
	}
	if (leaf) {
		return Literal(type);
	}
	switch (random_.Below(14)) {
	case 0:
		Use(Feature::CASE);
		return "CASE WHEN " + Boolean(scope, depth - 1) + " THEN " + Expression(type, scope, depth - 1) +
			   (random_.Chance(30) ? "" : " ELSE " + Expression(type, scope, depth - 1)) + " END";
	case 1:
		Use(Feature::COALESCE);
		return "coalesce(" + Expression(type, scope, depth - 1) + ", " + Expression(type, scope, depth - 1) + ")";
	case 2:
		return "nullif(" + Expression(type, scope, depth - 1) + ", " + Literal(type) + ")";
	case 3:
	case 4:
		// The join that plain DuckDB 1.5.5 makes of it reads arrays at the wrong places if rows before have no match.
		if (MayNest(scope, depth) && type != SqlType::ARRAY) {
			return ScalarSubquery(type, scope, depth - 1);
		}
		return Function(type, scope, depth - 1);
	default:
		return Function(type, scope, depth - 1);
	}
}

std::string Generator::Comparison(const Scope &scope, int depth) {
	static const std::vector<std::string> OPERATORS{"=", "=", "=", "<", ">", "<=", ">=", "<>"};
	auto type = AnyType(scope);
	auto left = Expression(type, scope, depth - 1);
	auto right = random_.Chance(50) ? Literal(type) : Expression(type, scope, depth - 1);
	switch (random_.Below(8)) {
	case 0:
		return "(" + left + (random_.Chance(50) ? " IS DISTINCT FROM " : " IS NOT DISTINCT FROM ") + right + ")";
	case 1:
		Use(Feature::BETWEEN);
		return "(" + left + (random_.Chance(80) ? " BETWEEN " : " NOT BETWEEN ") + right + " AND " + Literal(type) +
			   ")";
	case 2: {
		Use(Feature::IN_LIST);
		std::string list = right;
		// A long list is a join to DuckDB, which returns rows in any order.
		auto most = random_.Chance(10) && !IsNested(type) && !no_subqueries_ ? 12 : 4;
		for (auto count = random_.Below(most); count > 0; count--) {
			list += ", " + Literal(type);
		}
		return "(" + left + (random_.Chance(75) ? " IN (" : " NOT IN (") + list + "))";
	}
	default:
		return "(" + left + " " + random_.Pick(OPERATORS) + " " + right + ")";
	}
}

std::string Generator::Boolean(const Scope &scope, int depth) {
	auto column = ColumnOf(SqlType::BOOLEAN, scope);
	if (depth <= 0) {
		if (column && random_.Chance(30)) {
			return *column;
		}
		auto operand = AnyColumn(scope);
		return "(" + operand.sql + random_.Text({" = ", " <> ", " >= ", " < "}) + Literal(operand.type) + ")";
	}
	if (MayNest(scope, depth) && random_.Chance(30)) {
		return SubqueryPredicate(scope, depth - 1);
	}
	switch (random_.Below(12)) {
	case 0:
		return "(" + AnyColumn(scope).sql + (random_.Chance(50) ? " IS NULL)" : " IS NOT NULL)");
	case 1:
	case 2:
		return "(" + Boolean(scope, depth - 1) + (random_.Chance(60) ? " AND " : " OR ") + Boolean(scope, depth - 1) +
			   ")";
	case 3:
		return "(NOT " + Boolean(scope, depth - 1) + ")";
	case 4:
		Use(Feature::LIKE);
		return "(" + Expression(SqlType::VARCHAR, scope, depth - 1) +
			   random_.Text({" LIKE 'a%'", " ILIKE '%B%'", " NOT LIKE '%x'", " LIKE '_'", " SIMILAR TO '.*[0-9]+'"}) +
			   ")";
	case 5:
		Use(Feature::COLLATED_COMPARISON);
		return "(" + Expression(SqlType::VARCHAR, scope, depth - 1) + " COLLATE " +
			   random_.Text({"NOCASE", "NOACCENT", "NOCASE.NOACCENT"}) + random_.Text({" = ", " < ", " >= "}) +
			   Literal(SqlType::VARCHAR) + ")";
	case 6:
		Use(Feature::LIST_FUNCTION);
		return "list_contains(" + Expression(SqlType::INTEGER_LIST, scope, depth - 1) + ", " +
			   Expression(SqlType::INTEGER, scope, depth - 1) + ")";
	case 7:
		if (column) {
			return *column;
		}
		return random_.Text({"true", "false", "NULL::BOOLEAN", "true"});
	default:
		return Comparison(scope, depth);
	}
}

std::optional<std::string> Generator::ColumnOf(SqlType type, const Scope &scope) {
	std::vector<std::string> candidates;
	auto &source = scope.outer && random_.Chance(25) ? *scope.outer : scope;
	for (auto &relation : source.relations) {
		for (auto &column : relation.columns) {
			if (column.type == type) {
				candidates.push_back(relation.alias + "." + column.name);
			}
		}
	}
	if (candidates.empty()) {
		return std::nullopt;
	}
	if (&source != &scope) {
		Use(Feature::CORRELATED_SUBQUERY);
	}
	return random_.Pick(candidates);
}

TypedText Generator::AnyColumn(const Scope &scope) {
	if (scope.relations.empty()) {
		return {Literal(SqlType::INTEGER), SqlType::INTEGER};
	}
	auto &relation = random_.Pick(scope.relations);
	auto &column = random_.Pick(relation.columns);
	return {relation.alias + "." + column.name, column.type};
}

SqlType Generator::AnyType(const Scope &scope) {
	if (random_.Chance(35)) {
		return random_.Chance(50) ? SqlType::INTEGER : SqlType::VARCHAR;
	}
	return AnyColumn(scope).type;
}

std::vector<std::string> Generator::RowKey(const Scope &scope) {
	std::vector<std::string> result;
	for (auto &relation : scope.relations) {
		for (auto &name : relation.key) {
			result.push_back(relation.alias + "." + name);
		}
		if (relation.key.empty()) {
			for (auto &column : relation.columns) {
				result.push_back(relation.alias + "." + column.name);
			}
		}
	}
	return result;
}

std::string Generator::Literal(SqlType type) {
	if (random_.Chance(5)) {
		Use(Feature::NULL_LITERAL);
		return std::string("NULL::") + SqlTypeName(type);
	}
	return LiteralValue(type);
}

std::string Generator::LiteralValue(SqlType type) {
	auto number = [&](int64_t least, int64_t most) { return std::to_string(random_.Between(least, most)); };
	switch (type) {
	case SqlType::BOOLEAN:
		return random_.Text({"true", "false"});
	case SqlType::INTEGER:
		return number(-3, random_.Chance(70) ? 9 : 60);
	case SqlType::HUGEINT:
		return random_.Text({"7::HUGEINT", "0::HUGEINT", "9223372036854775807::HUGEINT", "(-1)::HUGEINT"});
	case SqlType::DECIMAL:
		return number(-40, 40) + random_.Text({".00", ".25", ".50", ".125"});
	case SqlType::DOUBLE:
		return random_.Text({"0.25::DOUBLE", "'NaN'::DOUBLE", "'-0.0'::DOUBLE", "7::DOUBLE", "(-1.5)::DOUBLE",
							 "'inf'::DOUBLE", "2.5::DOUBLE"});
	case SqlType::VARCHAR:
		return random_.Text({"'a'", "'A'", "'ä'", "'b'", "'ab'", "''", "'z'", "'text 7'", "'O'", "'R'", "'AIR'"});
	case SqlType::DATE:
		return "DATE '199" + number(4, 7) + "-0" + number(1, 9) + "-1" + number(0, 9) + "'";
	case SqlType::TIMESTAMP:
		return "TIMESTAMP '1995-03-" + number(10, 28) + " 0" + number(0, 9) + ":00:00'";
	case SqlType::TIMESTAMPTZ:
		return "TIMESTAMPTZ '1996-03-" + number(10, 28) + " 0" + number(0, 9) + ":02:03+00'";
	case SqlType::TIME:
		return "TIME '" + number(10, 23) + ":" + number(10, 59) + ":00'";
	case SqlType::INTERVAL:
		return random_.Text({"INTERVAL 1 MONTH", "INTERVAL 30 DAY", "INTERVAL 5 SECOND", "INTERVAL 1 DAY"});
	case SqlType::BLOB:
		return random_.Text({"''::BLOB", "'bl1\\x00\\xFF'::BLOB", "'bl'::BLOB"});
	case SqlType::UUID:
		return "'00000000-0000-0000-0000-00000000000" + number(0, 9) + "'::UUID";
	case SqlType::INTEGER_LIST:
		return random_.Text({"[1, 2]", "[]::INTEGER[]", "[NULL, 3]::INTEGER[]", "[0]", "[7, 7, 1]"});
	case SqlType::VARCHAR_LIST:
		return random_.Text({"['a', 'B']", "[]::VARCHAR[]", "['ä']", "[NULL, '']::VARCHAR[]"});
	case SqlType::STRUCT:
		return "{'a': " + number(0, 8) + ", 'b': " + random_.Text({"'a'", "'A'", "NULL::VARCHAR", "'z'"}) + "}";
	case SqlType::MAP:
		return random_.Text({"MAP {'m0': 1}", "MAP {'m0': 3, 'm1': 4}", "MAP {'m0': 0, 'm1': NULL}"});
	case SqlType::ENUM:
		return random_.Text({"'sad'::mood", "'ok'::mood", "'Ä'::mood", "''::mood"});
	case SqlType::ARRAY:
		return random_.Text({"[1, 2]::INTEGER[2]", "[0, NULL]::INTEGER[2]", "[3, 1]::INTEGER[2]"});
	case SqlType::BIT:
		return random_.Text({"'0101'::BIT", "'0'::BIT", "'1111000011110000'::BIT"});
	case SqlType::TIMETZ:
		return random_.Text({"TIMETZ '01:02:03+00'", "TIMETZ '01:02:03+01'", "TIMETZ '23:59:59-11'"});
	case SqlType::UNION:
		return random_.Text({"3::mixed", "'a'::mixed", "'z'::mixed", "0::mixed"});
	case SqlType::JSON:
		return random_.Text({"'{\"a\":1}'::JSON", "'null'::JSON", "'7'::JSON", "'[1, null]'::JSON"});
	}
	return "NULL";
}

} // namespace skein::fuzz
