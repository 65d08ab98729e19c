#include "fuzz/generator.hpp"

namespace skein::fuzz {
namespace {

//! Keeps of a number computed with roundings what is the same in any order: a multiple of 1/8. The odd offset lies
//! where no result of a few small integers does.
std::string Coarse(const std::string &number) {
	return "(round(" + number + " * 8 + 0.2876543) / 8)";
}

Scope WithoutOuter(const Scope &scope) {
	Scope result = scope;
	result.outer = nullptr;
	return result;
}

} // namespace

std::string Generator::Filter(const Scope &scope, int depth) {
	if (!random_.Chance(12)) {
		return "";
	}
	Use(Feature::AGGREGATE_FILTER);
	auto no_subqueries = no_subqueries_;
	no_subqueries_ = true;
	auto result = " FILTER (WHERE " + Boolean(scope, depth) + ")";
	no_subqueries_ = no_subqueries;
	return result;
}

TypedText Generator::Aggregate(const Scope &outer_scope, int depth) {
	auto scope = WithoutOuter(outer_scope);
	auto no_subqueries = no_subqueries_;
	no_subqueries_ = true;
	TypedText result;
	switch (random_.Below(10)) {
	case 0:
	case 1:
		result = OrderedAggregate(scope, depth);
		break;
	case 2:
		result = HolisticAggregate(scope, depth);
		break;
	case 3:
		result = StatisticAggregate(scope);
		break;
	default:
		result = SimpleAggregate(scope, depth);
		break;
	}
	no_subqueries_ = no_subqueries;
	return result;
}

TypedText Generator::AggregateOf(SqlType type, const Scope &outer_scope, int depth) {
	auto scope = WithoutOuter(outer_scope);
	auto no_subqueries = no_subqueries_;
	no_subqueries_ = true;
	TypedText result;
	auto argument = Expression(type, scope, depth);
	auto filter = Filter(scope, 1);
	if (type == SqlType::INTEGER && random_.Chance(60)) {
		result = {random_.Chance(50) ? "count(*)" + filter : "CAST(sum(" + argument + ")" + filter + " AS BIGINT)",
				  type};
	} else if (type == SqlType::BOOLEAN) {
		result = {random_.Text({"bool_and(", "bool_or("}) + argument + ")" + filter, type};
	} else if (type == SqlType::DOUBLE && random_.Chance(40)) {
		result = {Coarse("avg(" + argument + ")" + filter), type};
	} else if (IsNumeric(type) && type != SqlType::INTEGER && random_.Chance(40)) {
		result = {"sum(" + argument + ")" + filter, type};
	} else if (random_.Chance(20)) {
		Use(Feature::AGGREGATE_ORDERED);
		result = {random_.Text({"first(", "last(", "any_value("}) + argument + " ORDER BY " + argument + Direction() +
					  ")" + filter,
				  type};
	} else {
		result = {random_.Text({"min(", "max("}) + argument + ")" + filter, type};
	}
	no_subqueries_ = no_subqueries;
	return result;
}

TypedText Generator::SimpleAggregate(const Scope &scope, int depth) {
	std::string distinct;
	if (random_.Chance(20)) {
		Use(Feature::AGGREGATE_DISTINCT);
		distinct = "DISTINCT ";
	}
	auto integer = [&] { return Expression(SqlType::INTEGER, scope, depth); };
	switch (random_.Below(9)) {
	case 0:
		return {"count(*)" + Filter(scope, 1), SqlType::INTEGER};
	case 1: {
		auto column = AnyColumn(scope);
		return {"count(" + distinct + column.sql + ")" + Filter(scope, 1), SqlType::INTEGER};
	}
	case 2:
		return {"CAST(sum(" + distinct + integer() + ")" + Filter(scope, 1) + " AS BIGINT)", SqlType::INTEGER};
	case 3: {
		auto type = random_.Chance(50) ? SqlType::DECIMAL : SqlType::DOUBLE;
		return {"sum(" + distinct + Expression(type, scope, depth) + ")" + Filter(scope, 1), type};
	}
	case 4: {
		auto type = random_.Pick(std::vector<SqlType>{SqlType::INTEGER, SqlType::DECIMAL, SqlType::DOUBLE});
		return {Coarse("avg(" + distinct + Expression(type, scope, depth) + ")" + Filter(scope, 1)), SqlType::DOUBLE};
	}
	case 5:
	case 6: {
		auto type = AnyType(scope);
		if (IsNested(type)) {
			Use(Feature::AGGREGATE_NESTED_ARGUMENT);
		}
		return {random_.Text({"min(", "max("}) + distinct + Expression(type, scope, depth) + ")" + Filter(scope, 1),
				type};
	}
	case 7:
		Use(Feature::AGGREGATE_BITS);
		return {random_.Text({"bit_and(", "bit_or(", "bit_xor("}) + distinct + integer() + ")" + Filter(scope, 1),
				SqlType::INTEGER};
	default:
		Use(Feature::AGGREGATE_BITS);
		if (random_.Chance(40)) {
			return {"CAST(count_if(" + Boolean(scope, depth) + ")" + Filter(scope, 1) + " AS BIGINT)",
					SqlType::INTEGER};
		}
		return {random_.Text({"bool_and(", "bool_or("}) + Boolean(scope, depth) + ")" + Filter(scope, 1),
				SqlType::BOOLEAN};
	}
}

TypedText Generator::DistinctAggregate(const Scope &scope) {
	Use(Feature::AGGREGATE_DISTINCT);
	auto column = AnyColumn(scope);
	if (column.type == SqlType::INTEGER && random_.Chance(50)) {
		return {"CAST(sum(DISTINCT " + column.sql + ") AS BIGINT)", SqlType::INTEGER};
	}
	return {"count(DISTINCT " + column.sql + ")", SqlType::INTEGER};
}

TypedText Generator::OrderedAggregate(const Scope &scope, int depth) {
	auto type = AnyType(scope);
	auto value = Expression(type, scope, depth);
	switch (random_.Below(7)) {
	case 0:
	case 1:
		Use(Feature::AGGREGATE_ORDERED);
		return {random_.Text({"first(", "last(", "any_value("}) + value + " ORDER BY " + value + Direction() + ")" +
					Filter(scope, 1),
				type};
	case 2: {
		Use(Feature::AGGREGATE_ORDERED);
		auto text = Expression(SqlType::VARCHAR, scope, depth);
		auto distinct = random_.Chance(25) ? "DISTINCT " : "";
		return {std::string("string_agg(") + distinct + text + ", ',' ORDER BY " + text + Direction() + ")" +
					Filter(scope, 1),
				SqlType::VARCHAR};
	}
	case 3: {
		Use(Feature::AGGREGATE_LIST);
		Use(Feature::AGGREGATE_ORDERED);
		auto list_type = random_.Chance(50) ? SqlType::INTEGER : SqlType::VARCHAR;
		auto element = Expression(list_type, scope, depth);
		auto before = random_.Chance(40) ? AnyColumn(scope).sql + Direction() + ", " : "";
		return {random_.Text({"list(", "array_agg("}) + element + " ORDER BY " + before + element + Direction() + ")" +
					Filter(scope, 1),
				list_type == SqlType::INTEGER ? SqlType::INTEGER_LIST : SqlType::VARCHAR_LIST};
	}
	case 4:
	case 5:
		// The value itself breaks ties.
		Use(Feature::AGGREGATE_BY_ROW);
		return {random_.Text({"arg_min(", "arg_max(", "max_by("}) + value + ", row(" + AnyColumn(scope).sql + ", " +
					value + "))" + Filter(scope, 1),
				type};
	default:
		Use(Feature::AGGREGATE_HOLISTIC);
		return {"mode(" + value + " ORDER BY " + value + ")" + Filter(scope, 1), type};
	}
}

TypedText Generator::HolisticAggregate(const Scope &scope, int depth) {
	Use(Feature::AGGREGATE_HOLISTIC);
	auto integer = Expression(SqlType::INTEGER, scope, depth);
	switch (random_.Below(7)) {
	case 0:
		return {Coarse("median(" + integer + ")" + Filter(scope, 1)), SqlType::DOUBLE};
	case 1:
		return {Coarse("quantile_cont(" + integer + ", " + random_.Text({"0.25", "0.9"}) + ")"), SqlType::DOUBLE};
	case 2: {
		auto type = random_.Pick(
			std::vector<SqlType>{SqlType::INTEGER, SqlType::VARCHAR, SqlType::DATE, SqlType::DECIMAL, SqlType::DOUBLE});
		return {"quantile_disc(" + Expression(type, scope, depth) + ", " + random_.Text({"0.1", "0.5"}) + ")" +
					Filter(scope, 1),
				type};
	}
	case 3:
		return {Coarse("mad(" + integer + ")"), SqlType::DOUBLE};
	case 4:
		Use(Feature::AGGREGATE_APPROXIMATE);
		return {"approx_count_distinct(" + AnyColumn(scope).sql + ")" + Filter(scope, 1), SqlType::INTEGER};
	case 5:
		return {"list_sort(max(" + integer + ", 3)" + Filter(scope, 1) + ")", SqlType::INTEGER_LIST};
	default:
		return {"list_sort(map_keys(histogram(" + integer + ")" + Filter(scope, 1) + "))", SqlType::INTEGER_LIST};
	}
}

TypedText Generator::StatisticAggregate(const Scope &scope) {
	Use(Feature::AGGREGATE_STATISTIC);
	auto column = [&] {
		auto found = ColumnOf(SqlType::INTEGER, scope);
		return found ? *found : std::string("1");
	};
	auto left = column();
	auto right = column();
	switch (random_.Below(4)) {
	case 0:
		return {Coarse(random_.Text({"stddev_samp(", "stddev_pop(", "var_pop(", "var_samp(", "sem("}) + left + ")" +
					   Filter(scope, 1)),
				SqlType::DOUBLE};
	case 1:
		return {Coarse(random_.Text({"covar_pop(", "covar_samp(", "regr_avgx(", "regr_sxx("}) + left + ", " + right +
					   ")" + Filter(scope, 1)),
				SqlType::DOUBLE};
	case 2:
		return {random_.Text({"regr_count("}) + left + ", " + right + ")" + Filter(scope, 1), SqlType::INTEGER};
	default:
		return {Coarse(random_.Text({"entropy(", "favg(", "fsum(", "sumkahan("}) + left + ")" + Filter(scope, 1)),
				SqlType::DOUBLE};
	}
}

} // namespace skein::fuzz
