#include "fuzz/generator.hpp"

namespace skein::fuzz {

std::string Generator::Function(SqlType type, const Scope &scope, int depth) {
	switch (type) {
	case SqlType::BOOLEAN:
		return Boolean(scope, depth);
	case SqlType::INTEGER:
		return IntegerFunction(scope, depth);
	case SqlType::HUGEINT:
	case SqlType::DECIMAL:
	case SqlType::DOUBLE:
		return NumberFunction(type, scope, depth);
	case SqlType::VARCHAR:
		return TextFunction(scope, depth);
	case SqlType::DATE:
	case SqlType::TIMESTAMP:
	case SqlType::TIMESTAMPTZ:
	case SqlType::TIME:
	case SqlType::INTERVAL:
		return TimeFunction(type, scope, depth);
	default:
		return NestedFunction(type, scope, depth);
	}
}

std::string Generator::IntegerFunction(const Scope &scope, int depth) {
	auto number = [&] { return Expression(SqlType::INTEGER, scope, depth); };
	switch (random_.Below(16)) {
	case 0:
		return "(" + number() + " + " + number() + ")";
	case 1:
		return "(" + number() + " - " + number() + ")";
	case 2:
		return "(" + number() + " * " + random_.Text({"2", "-1", "3"}) + ")";
	case 3:
		return "(" + number() + random_.Text({" % 3", " // 2", " % 7", " & 3"}) + ")";
	case 4:
		return random_.Text({"abs(", "sign(", "-("}) + number() + ")";
	case 5:
		Use(Feature::TEXT_FUNCTION);
		return random_.Text({"length(", "strlen("}) + Expression(SqlType::VARCHAR, scope, depth) + ")";
	case 6:
		Use(Feature::STRUCT_FUNCTION);
		return "struct_extract(" + Expression(SqlType::STRUCT, scope, depth) + ", 'a')";
	case 7:
		Use(Feature::LIST_FUNCTION);
		return "list_extract(" + Expression(SqlType::INTEGER_LIST, scope, depth) +
			   random_.Text({", 1)", ", -1)", ", 5)"});
	case 8:
		Use(Feature::LIST_FUNCTION);
		return random_.Text({"len(", "list_aggregate(", "list_max("}) == std::string("len(")
				   ? "len(" + Expression(SqlType::VARCHAR_LIST, scope, depth) + ")"
				   : "list_max(" + Expression(SqlType::INTEGER_LIST, scope, depth) + ")";
	case 9:
		Use(Feature::MAP_FUNCTION);
		return "map_extract_value(" + Expression(SqlType::MAP, scope, depth) + ", 'm" + random_.Text({"0')", "1')"});
	case 10:
		Use(Feature::DATE_FUNCTION);
		return random_.Text({"year(", "month(", "dayofweek("}) + Expression(SqlType::DATE, scope, depth) + ")";
	case 11:
		Use(Feature::CAST);
		return "CAST(" + Expression(SqlType::BOOLEAN, scope, depth) + " AS INTEGER)";
	case 12:
		Use(Feature::TRY_CAST);
		return "TRY_CAST(" + Expression(SqlType::VARCHAR, scope, depth) + " AS INTEGER)";
	case 13:
		Use(Feature::BIT_FUNCTION);
		return random_.Text({"bit_count(", "length("}) + Expression(SqlType::BIT, scope, depth) + ")";
	case 14:
		Use(Feature::LIST_FUNCTION);
		return "array_extract(" + Expression(SqlType::ARRAY, scope, depth) + random_.Text({", 1)", ", 2)"});
	default:
		return random_.Text({"greatest(", "least("}) + number() + ", " + number() + ")";
	}
}

std::string Generator::TextFunction(const Scope &scope, int depth) {
	auto text = [&] { return Expression(SqlType::VARCHAR, scope, depth); };
	Use(Feature::TEXT_FUNCTION);
	switch (random_.Below(13)) {
	case 0:
		return "(" + text() + " || " + text() + ")";
	case 1:
		return random_.Text({"upper(", "lower(", "reverse(", "trim(", "strip_accents("}) + text() + ")";
	case 2:
		return "substr(" + text() + random_.Text({", 1, 2)", ", 2)", ", -1)"});
	case 3:
		Use(Feature::CAST);
		return "CAST(" + Expression(SqlType::INTEGER, scope, depth) + " AS VARCHAR)";
	case 4:
		Use(Feature::CAST);
		return "CAST(" + Expression(random_.Chance(50) ? SqlType::DATE : SqlType::UUID, scope, depth) + " AS VARCHAR)";
	case 5:
		return "concat(" + text() + ", '-', " + Expression(SqlType::INTEGER, scope, depth) + ")";
	case 6:
		Use(Feature::STRUCT_FUNCTION);
		return "struct_extract(" + Expression(SqlType::STRUCT, scope, depth) + ", 'b')";
	case 7:
		Use(Feature::LIST_FUNCTION);
		return "array_to_string(" + Expression(SqlType::VARCHAR_LIST, scope, depth) + ", '/')";
	case 8:
		Use(Feature::DATE_FUNCTION);
		return random_.Text({"dayname(", "monthname("}) + Expression(SqlType::DATE, scope, depth) + ")";
	case 9:
		Use(Feature::ENUM_FUNCTION);
		return "CAST(" + Expression(SqlType::ENUM, scope, depth) + " AS VARCHAR)";
	case 10:
		Use(Feature::UNION_FUNCTION);
		return random_.Chance(50) ? "CAST(union_tag(" + Expression(SqlType::UNION, scope, depth) + ") AS VARCHAR)"
								  : "union_extract(" + Expression(SqlType::UNION, scope, depth) + ", 't')";
	case 11:
		Use(Feature::JSON_FUNCTION);
		return "json_extract_string(" + Expression(SqlType::JSON, scope, depth) + ", " +
			   random_.Text({"'$.a'", "'$'", "'$[0]'"}) + ")";
	default:
		return "replace(" + text() + ", 'a', " + Literal(SqlType::VARCHAR) + ")";
	}
}

std::string Generator::NumberFunction(SqlType type, const Scope &scope, int depth) {
	auto number = [&] { return Expression(type, scope, depth); };
	std::string integer_cast = "CAST(" + Expression(SqlType::INTEGER, scope, depth) + " AS " + SqlTypeName(type) + ")";
	if (type == SqlType::HUGEINT || random_.Chance(25)) {
		// HUGEINT columns hold the extremes, with which nothing is computed.
		Use(Feature::CAST);
		return integer_cast;
	}
	if (type == SqlType::DECIMAL) {
		switch (random_.Below(4)) {
		case 0:
			return "(" + number() + " + " + integer_cast + ")";
		case 1:
			return random_.Text({"abs(", "-(", "floor(", "ceil("}) + number() + ")";
		case 2:
			return "round(" + number() + ", 1)";
		default:
			return random_.Text({"greatest(", "least("}) + number() + ", " + Literal(type) + ")";
		}
	}
	// What keeps multiples of powers of two.
	switch (random_.Below(4)) {
	case 0:
		return "(" + number() + " + " + integer_cast + ")";
	case 1:
		return "(" + number() + " * " + random_.Text({"2", "0.5", "-1"}) + ")";
	case 2:
		return random_.Text({"abs(", "-(", "floor("}) + number() + ")";
	default:
		return random_.Text({"greatest(", "least("}) + number() + ", " + Literal(type) + ")";
	}
}

std::string Generator::TimeFunction(SqlType type, const Scope &scope, int depth) {
	Use(Feature::DATE_FUNCTION);
	switch (type) {
	case SqlType::DATE:
		switch (random_.Below(3)) {
		case 0:
			return "(" + Expression(type, scope, depth) + " + (" + Expression(SqlType::INTEGER, scope, depth) +
				   " % 1000)::INTEGER)";
		case 1:
			return "CAST(date_trunc('month', " + Expression(type, scope, depth) + ") AS DATE)";
		default:
			return "CAST(" + Expression(SqlType::TIMESTAMP, scope, depth) + " AS DATE)";
		}
	case SqlType::TIMESTAMP:
		switch (random_.Below(3)) {
		case 0:
			return "(" + Expression(type, scope, depth) + " + INTERVAL 36 HOUR)";
		case 1:
			return "date_trunc('day', " + Expression(type, scope, depth) + ")";
		default:
			return "CAST(" + Expression(SqlType::DATE, scope, depth) + " AS TIMESTAMP)";
		}
	case SqlType::INTERVAL:
		return "to_days((" + Expression(SqlType::INTEGER, scope, depth) + " % 1000)::INTEGER)";
	default:
		Use(Feature::COALESCE);
		return "coalesce(" + Expression(type, scope, depth) + ", " + Literal(type) + ")";
	}
}

std::string Generator::NestedFunction(SqlType type, const Scope &scope, int depth) {
	switch (type) {
	case SqlType::INTEGER_LIST: {
		auto list = Expression(type, scope, depth);
		switch (random_.Below(5)) {
		case 0:
			Use(Feature::LAMBDA);
			return "list_transform(" + list + ", lambda e: e + " + random_.Text({"1", "10"}) + ")";
		case 1:
			Use(Feature::LAMBDA);
			return "list_filter(" + list + ", lambda e: e > " + Literal(SqlType::INTEGER) + ")";
		case 2:
			Use(Feature::LIST_FUNCTION);
			return random_.Text({"list_sort(", "list_reverse_sort(", "list_reverse("}) + list + ")";
		case 3:
			Use(Feature::LIST_FUNCTION);
			return "list_concat(" + list + ", " + Literal(type) + ")";
		default:
			Use(Feature::LIST_FUNCTION);
			return "[" + Expression(SqlType::INTEGER, scope, depth) + ", " + Literal(SqlType::INTEGER) + "]";
		}
	}
	case SqlType::VARCHAR_LIST:
		Use(Feature::LIST_FUNCTION);
		switch (random_.Below(3)) {
		case 0:
			return "[" + Expression(SqlType::VARCHAR, scope, depth) + "]";
		case 1:
			return "string_split(" + Expression(SqlType::VARCHAR, scope, depth) + ", ' ')";
		default:
			return "list_sort(" + Expression(type, scope, depth) + ")";
		}
	case SqlType::STRUCT:
		Use(Feature::STRUCT_FUNCTION);
		return "{'a': CAST(" + Expression(SqlType::INTEGER, scope, depth) +
			   " % 1000 AS INTEGER), 'b': " + Expression(SqlType::VARCHAR, scope, depth) + "}";
	case SqlType::MAP:
		Use(Feature::MAP_FUNCTION);
		return "map(['m0'], [CAST(" + Expression(SqlType::INTEGER, scope, depth) + " % 1000 AS INTEGER)])";
	case SqlType::ENUM:
		Use(Feature::ENUM_FUNCTION);
		return "TRY_CAST(" + Expression(SqlType::VARCHAR, scope, depth) + " AS mood)";
	case SqlType::ARRAY:
		Use(Feature::LIST_FUNCTION);
		return "array_value(CAST(" + Expression(SqlType::INTEGER, scope, depth) + " % 1000 AS INTEGER), 1)";
	case SqlType::UNION:
		Use(Feature::UNION_FUNCTION);
		return "CAST(" + Expression(SqlType::VARCHAR, scope, depth) + " AS mixed)";
	case SqlType::JSON:
		Use(Feature::JSON_FUNCTION);
		return "to_json(" + Expression(random_.Chance(50) ? SqlType::INTEGER : SqlType::VARCHAR, scope, depth) + ")";
	default:
		Use(Feature::COALESCE);
		return "coalesce(" + Expression(type, scope, depth) + ", " + Literal(type) + ")";
	}
}

} // namespace skein::fuzz
