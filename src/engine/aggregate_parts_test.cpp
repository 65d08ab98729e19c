#include "engine/aggregate_parts.hpp"

#include "engine/two_step_runner.hpp"

#include "duckdb/planner/expression/bound_aggregate_expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace skein {
namespace {

using duckdb::LogicalTypeId;
using duckdb::Value;

//! Rows in slices 0, 1 and 3; slice 2 is empty. Groups 0 to 4 are everywhere, 10 and 11 in one slice only, group 5 has
//! no value but NULL, NULL is a group too.
constexpr const char *CREATE_TABLE = R"(
CREATE TABLE t AS
SELECT CASE i % 5 WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN 0 ELSE 3 END AS slice,
       CASE WHEN i % 11 = 10 THEN NULL WHEN i % 35 = 5 THEN 10 WHEN i % 35 = 6 THEN 11 ELSE i % 6 END AS g,
       g IS DISTINCT FROM 5 AND i % 7 <> 3 AS is_set,
       hash(i) AS h,
       CASE WHEN is_set THEN (h % 256)::INT - 128 END AS n,
       n::TINYINT AS i8, (n * 250)::SMALLINT AS i16, (n::BIGINT * 16000000)::INTEGER AS i32,
       CASE WHEN is_set THEN (h >> 1)::BIGINT * (1 - 2 * (i % 2)) END AS i64, i64::HUGEINT * 1000000007 AS i128,
       (n + 128)::UTINYINT AS u8, (n + 128)::USMALLINT AS u16, (n + 128)::UINTEGER AS u32,
       CASE WHEN is_set THEN h END AS u64, u64::UHUGEINT * 3 AS u128, n::BIGNUM AS big,
       (n / 7)::FLOAT AS f32, n / 7 AS f64, (n * 2 + i % 13) / 3 AS f64b,
       (n / 10)::DECIMAL(4, 1) AS d4, (n * 1000.01)::DECIMAL(9, 2) AS d9, (i64 // 10000)::DECIMAL(18, 3) AS d18, d9::DECIMAL(15, 2) AS d15,
       (i128 // 10)::DECIMAL(38, 1) AS d38,
       n > 0 AS flag, CASE WHEN is_set THEN 'value number ' || (h % 1000) END AS s, CASE WHEN is_set THEN chr(65 + (h % 26)::INT) END AS c,
       s::BLOB AS bytes, DATE '2000-01-01' + n AS day, TIMESTAMP '2000-01-01' + to_microseconds(i64 % 1000000000000000) AS ts,
       ts::TIMESTAMPTZ AS tstz, TIME '12:00' + to_seconds(n) AS tm, tm::TIMETZ AS tmtz, ts::TIMESTAMP_S AS ts_s,
       to_days(n) + to_seconds(n * 7) + to_months(n) AS iv, CASE WHEN is_set THEN md5(i::VARCHAR)::UUID END AS u,
       CASE WHEN is_set THEN (h % 65536)::INT::BIT END AS bits,
       (CASE h % 3 WHEN 0 THEN 'low' WHEN 1 THEN 'middle' WHEN 2 THEN 'high' END)::ENUM('low', 'middle', 'high') AS e,
       CASE WHEN is_set THEN [n, i % 3] END AS l, CASE WHEN is_set THEN {'a': n % 4, 'b': s} END AS st,
       [n % 4, i % 3, 1]::INTEGER[3] AS arr, CASE WHEN is_set THEN [{'x': [s]}] END AS nested,
       ts::TIMESTAMP_MS AS ts_ms, ts::TIMESTAMP_NS AS ts_ns, to_json(st) AS js, MAP {h: n} AS m, 
       CASE i % 9 WHEN 0 THEN 'nan' WHEN 1 THEN '-inf' WHEN 2 THEN '-0' ELSE '1.5' END::DOUBLE AS special
FROM range(3000) rows(i))";

const std::vector<std::string> EXACT_NUMBERS{"i8",	"i16", "i32", "i64", "i128", "u8",
											 "u16", "u32", "d4",  "d9",	 "d18",	 "d38"};
const std::vector<std::string> DOUBLES{"f32", "f64", "u64", "u128"};

//! All columns that any test aggregates.
std::vector<std::string> AllColumns() {
	auto columns = EXACT_NUMBERS;
	columns.insert(columns.end(), DOUBLES.begin(), DOUBLES.end());
	for (auto column :
		 {"big", "flag", "s", "c", "bytes", "day", "ts",	 "tstz",  "tm",	   "tmtz", "ts_s", "iv",
		  "u",	 "bits", "e", "l", "st",	"arr", "nested", "ts_ms", "ts_ns", "js",   "m",	   "special"}) {
		columns.push_back(column);
	}
	return columns;
}

std::string Call(const std::string &function, const std::string &argument) {
	return function + "(" + argument + ")";
}

void ExpectSame(const Value &actual, const Value &expected, double tolerance) {
	ASSERT_EQ(actual.type(), expected.type());
	auto id = expected.type().id();
	auto is_float = id == LogicalTypeId::DOUBLE || id == LogicalTypeId::FLOAT;
	if (!is_float || expected.IsNull() || actual.IsNull() || !Value::IsFinite(expected.GetValue<double>())) {
		ASSERT_TRUE(Value::NotDistinctFrom(actual, expected))
			<< actual.ToString() << " instead of " << expected.ToString();
		return;
	}
	auto wanted = expected.GetValue<double>();
	ASSERT_NEAR(actual.GetValue<double>(), wanted, std::abs(wanted) * tolerance);
}

void ExpectSame(const Groups &actual, const Groups &expected, double tolerance) {
	ASSERT_EQ(actual.size(), expected.size());
	for (auto &[group, value] : expected) {
		SCOPED_TRACE("group " + group);
		auto found = actual.find(group);
		ASSERT_NE(found, actual.end());
		ExpectSame(found->second, value, tolerance);
	}
}

class AggregatePartsTest : public testing::Test {
protected:
	static void SetUpTestSuite() {
		runner = std::make_unique<TwoStepRunner>();
		runner->Prepare("SET TimeZone = 'UTC'");
		runner->Prepare(CREATE_TABLE);
	}
	static void TearDownTestSuite() {
		runner.reset();
	}

	//! Compares the result in two steps with plain DuckDB's.
	static void Check(const AggregateQuery &query, double tolerance = 1e-12,
					  const std::vector<int> &slices = {0, 1, 2, 3}) {
		SCOPED_TRACE(query.Sql("..."));
		try {
			auto expected = runner->RunWhole(query, slices);
			ExpectSame(runner->RunInTwoSteps(query, slices), expected, tolerance);
			ExpectSame(runner->RunInTwoStepsLocally(query, slices), expected, tolerance);
		} catch (const std::exception &error) {
			FAIL() << error.what();
		}
	}

	static std::unique_ptr<TwoStepRunner> runner;
};

std::unique_ptr<TwoStepRunner> AggregatePartsTest::runner;

TEST_F(AggregatePartsTest, CountsAddUp) {
	Check({"count(*)"});
	Check({"count()"});
	for (auto &column : AllColumns()) {
		Check({Call("count", column)});
	}
	Check({"count_if(flag)"});
	Check({"countif(n > 3)"});
	Check({"regr_count(f64, f64b)"});
}

TEST_F(AggregatePartsTest, SumsAddUp) {
	for (auto &column : EXACT_NUMBERS) {
		Check({Call("sum", column)});
	}
	for (auto &column : DOUBLES) {
		Check({Call("sum", column)});
	}
	Check({"sum(flag)"});
	Check({"sum(big)"});
	Check({"sum(n)"});
	Check({"SUM(special)"});
}

TEST_F(AggregatePartsTest, SumsThatCannotOverflowAddUp) {
	for (auto column : {"i32", "d9", "d15", "n"}) {
		AggregateQuery query{Call("sum", column)};
		runner->WithAggregate(query,
							  [](auto &, auto &aggregate) { EXPECT_EQ(aggregate.function.name, "sum_no_overflow"); });
		Check(query);
		query.group = "";
		Check(query);
	}
}

TEST_F(AggregatePartsTest, ExtremesAreFoundInEveryType) {
	for (auto &column : AllColumns()) {
		Check({Call("min", column)});
		Check({Call("max", column)});
	}
}

TEST_F(AggregatePartsTest, BitsAndTruthValuesCombine) {
	for (auto column : {"i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128", "bits"}) {
		Check({Call("bit_and", column)});
		Check({Call("bit_or", column)});
		Check({Call("bit_xor", column)});
	}
	Check({"bool_and(flag)"});
	Check({"bool_or(flag)"});
	Check({"bitstring_agg(u8, 0, 255)"});
	Check({"bitstring_agg(u8)"});
	Check({"bitstring_agg(i128 % 100, -100, 100)"});
}

TEST_F(AggregatePartsTest, AveragesCombine) {
	for (auto &column : EXACT_NUMBERS) {
		Check({Call("avg", column)});
		Check({Call("mean", column)});
	}
	for (auto &column : DOUBLES) {
		Check({Call("avg", column)});
		Check({Call("favg", column)});
	}
	for (auto column : {"iv", "day", "ts", "tstz", "tm", "tmtz"}) {
		Check({Call("avg", column)});
	}
}

TEST_F(AggregatePartsTest, MomentsCombine) {
	for (auto function : {"fsum", "kahan_sum", "sumkahan", "stddev", "stddev_samp", "stddev_pop", "variance",
						  "var_samp", "var_pop", "sem"}) {
		for (auto column : {"f64", "f32", "i8", "i64", "d9", "d38", "u64"}) {
			Check({Call(function, column)});
		}
	}
	for (auto function : {"skewness", "kurtosis", "kurtosis_pop"}) {
		Check({Call(function, "f64")}, 1e-9);
		Check({Call(function, "i16")}, 1e-9);
	}
	Check({"product(1 + f64 / 1000)"});
	Check({"geomean(abs(f64) + 1)"});
	Check({"weighted_avg(f64, abs(f64b) + 1)"});
}

TEST_F(AggregatePartsTest, RegressionsCombine) {
	for (auto function : {"corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept",
						  "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"}) {
		Check({Call(function, "f64, f64b")}, 1e-11);
		Check({Call(function, "i32, CASE WHEN n > 0 THEN f64b END")}, 1e-10);
	}
}

TEST_F(AggregatePartsTest, SketchesMergeToTheSketchOfAllRows) {
	for (auto &column : AllColumns()) {
		Check({Call("approx_count_distinct", column)});
	}
	Check({"approx_count_distinct(DISTINCT s)"});
}

TEST_F(AggregatePartsTest, OneRowIsChosenOfThoseThatThePartsChose) {
	for (auto function :
		 {"arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by", "arg_min_null", "arg_max_null"}) {
		for (auto &column : AllColumns()) {
			Check({Call(function, column + ", h")});
			Check({Call(function, column + ", CASE WHEN i64 % 3 = 0 THEN md5(h::VARCHAR) END")});
		}
		Check({Call(function, "n, CASE WHEN g > 2 THEN h END")});
		AggregateQuery filtered{Call(function, "s, h") + " FILTER (slice = 1 AND i8 > 100)"};
		Check(filtered);
		filtered.group = "";
		Check(filtered);
		filtered.where = "slice <> 1";
		Check(filtered);
	}
}

TEST_F(AggregatePartsTest, TheFirstRowsAreAmongTheFirstRowsOfTheParts) {
	for (auto &column : AllColumns()) {
		for (auto rows : {"1", "3", "5000"}) {
			Check({Call("min", column + ", " + rows)});
			Check({Call("max", column + ", " + rows)});
		}
		for (auto function : {"arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by"}) {
			Check({Call(function, column + ", h, 4")});
			Check({Call(function, column + ", md5(h::VARCHAR), 200")});
		}
	}
	// No two keys are equal, and NULL is one of a single row.
	for (auto function : {"arg_min_nulls_last", "arg_max_nulls_last"}) {
		for (auto column : {"n", "s", "{'a': n, 'b': s, 'l': l}"}) {
			Check({Call(function, std::string(column) + ", nullif(h, hash(17)), 3")});
			Check({Call(function, std::string(column) + ", nullif(h, hash(17)), 3000")});
		}
	}
	AggregateQuery filtered{"arg_max(s, h, 7) FILTER (slice = 1 AND i8 > 100)"};
	Check(filtered);
	filtered.group = "";
	Check(filtered);
	filtered.where = "slice <> 1";
	Check(filtered);
	filtered.where = "false";
	Check(filtered);
	filtered.aggregate = "min(nested, 3)";
	Check(filtered);
}

TEST_F(AggregatePartsTest, CollatedStringsAreComparedAsTheirCollationSays) {
	Check({"min(s COLLATE NOCASE)"});
	Check({"max(CASE WHEN i8 % 2 = 0 THEN upper(s) ELSE s END COLLATE NOCASE)"});
	Check({"arg_max(n, md5(h::VARCHAR) COLLATE NOCASE)"});
}

TEST_F(AggregatePartsTest, AValueOfAnyRowMayBeTheOneOfAnyPart) {
	// The same in all rows of a group, so that it does not matter which row is taken.
	for (auto function : {"first", "last", "arbitrary", "any_value"}) {
		for (auto value : {"'value ' || g", "g", "{'g': g, 'l': [g, NULL]}", "CASE WHEN g <> 2 THEN g END"}) {
			Check({Call(function, value)});
		}
		AggregateQuery query{Call(function, "'all the same'")};
		query.group = "";
		Check(query);
		// Some parts have no rows then.
		query.where = "slice = 3";
		Check(query);
		query.where = "false";
		Check(query);
		query.where = "true";
		query.aggregate = Call(function, "'all the same'") + " FILTER (slice = 1)";
		Check(query);
	}
	Check({"any_value(CASE WHEN slice = 1 THEN g END)"});
}

TEST_F(AggregatePartsTest, FilterStaysWithTheRows) {
	for (auto aggregate : {"count(*)", "count(n)", "sum(d9)", "min(s)", "avg(i64)", "stddev(f64)", "corr(f64, f64b)",
						   "approx_count_distinct(s)", "bool_or(flag)"}) {
		AggregateQuery query{std::string(aggregate) + " FILTER (i8 > 20 OR c = 'A')"};
		Check(query);
		query.group = "";
		Check(query);
		query.aggregate = std::string(aggregate) + " FILTER (i8 > 1000)";
		Check(query);
	}
}

TEST_F(AggregatePartsTest, DistinctGoesWhereItChangesNothing) {
	for (auto aggregate : {"min(DISTINCT s)", "max(DISTINCT n)", "bool_and(DISTINCT flag)", "bool_or(DISTINCT flag)",
						   "bit_and(DISTINCT u8)", "bit_or(DISTINCT u8)"}) {
		Check({aggregate});
	}
}

TEST_F(AggregatePartsTest, WithoutGroupsThereIsOneRow) {
	for (auto aggregate : {"count(*)",
						   "count(n)",
						   "count_if(flag)",
						   "sum(i32)",
						   "sum(d18)",
						   "sum(f64)",
						   "min(n)",
						   "max(s)",
						   "min(l)",
						   "bit_xor(u8)",
						   "bool_and(flag)",
						   "avg(i16)",
						   "avg(d9)",
						   "avg(iv)",
						   "avg(f64)",
						   "favg(f64)",
						   "fsum(f64)",
						   "stddev(f64)",
						   "sem(f64)",
						   "skewness(f64)",
						   "product(f64)",
						   "corr(f64, f64b)",
						   "regr_count(f64, f64b)",
						   "regr_slope(f64, f64b)",
						   "approx_count_distinct(s)"}) {
		AggregateQuery query{aggregate};
		query.group = "";
		Check(query, 1e-9);
		query.where = "i8 > 1000";
		Check(query);
		query.where = "n IS NULL";
		Check(query);
	}
}

TEST_F(AggregatePartsTest, PartsOfEmptyGroupsHaveNoRows) {
	for (auto aggregate : {"count(*)", "sum(i32)", "avg(d9)", "min(s)"}) {
		Check({aggregate}, 1e-12, {2, 2});
		Check({aggregate}, 1e-12, {0, 2});
		Check({aggregate, "g", "g = 5"});
	}
}

TEST_F(AggregatePartsTest, ManyAggregatesShareOnePlan) {
	Check({"{'n': count(*), 'a': avg(d9), 'b': avg(i32), 'c': sum(d9), 'd': min(s), 'e': max(n) FILTER (flag)}"});
	Check({"avg(n) - avg(i64) FILTER (flag) + count(*) + stddev_pop(n)"});
}

TEST_F(AggregatePartsTest, ManyGroupsCombineInParallel) {
	constexpr const char *create = "CREATE TABLE big AS SELECT i % 4 AS slice, (i * 7919) % 20011 AS g, i % 3 AS k, "
								   "i AS n, i / 7 AS f64, i::DECIMAL(12, 2) AS d FROM range(400000) rows(i)";
	runner->Prepare("SET threads = 4");
	runner->Prepare("SET preserve_insertion_order = false");
	runner->Prepare(create);
	for (auto aggregate : {"count(*)", "sum(n)", "avg(d)", "avg(n)", "stddev(f64)", "approx_count_distinct(n)",
						   "regr_slope(f64, n)", "max(n)"}) {
		Check({aggregate, "g", "true", "big"}, 1e-9);
		Check({aggregate, "k", "true", "big"}, 1e-9);
		Check({aggregate, "", "true", "big"}, 1e-9);
	}
}

TEST_F(AggregatePartsTest, WhatNeedsAllRowsIsRefused) {
	for (auto aggregate : {"count(DISTINCT n)",
						   "sum(DISTINCT n)",
						   "avg(DISTINCT n)",
						   "bit_xor(DISTINCT u8)",
						   "stddev(DISTINCT n)",
						   "arg_max(DISTINCT n, i64)",
						   "arg_max(n, i64, slice + 1)",
						   "arg_max_nulls_last(n, i64)",
						   "min(n, slice + 1)",
						   "list(n)",
						   "array_agg(n)",
						   "string_agg(s, ',')",
						   "group_concat(s)",
						   "median(n)",
						   "quantile_cont(n, 0.5)",
						   "quantile_disc(n, 0.5)",
						   "mode(n)",
						   "mad(n)",
						   "entropy(n)",
						   "histogram(n)",
						   "approx_quantile(n, 0.5)",
						   "approx_top_k(n, 3)",
						   "reservoir_quantile(n, 0.5)",
						   "sum(f64 ORDER BY i64)",
						   "list(n ORDER BY n)",
						   "avg(n) EXPORT_STATE"}) {
		EXPECT_NE(runner->ReasonAgainst(aggregate), "") << aggregate;
	}
}

TEST_F(AggregatePartsTest, ReasonsNameTheFunction) {
	EXPECT_EQ(runner->ReasonAgainst("median(n)"),
			  "median cannot be computed from parts: the rows of a group have to be in one place");
	EXPECT_EQ(runner->ReasonAgainst("count(DISTINCT n)"), "count is DISTINCT: equal values have to be in one place");
	EXPECT_EQ(runner->ReasonAgainst("sum(n)"), "");
}

TEST_F(AggregatePartsTest, AnotherFunctionOfTheSameNameIsRefused) {
	for (auto aggregate : {"avg(n)", "sum(i64)", "count(n)"}) {
		runner->WithAggregate({aggregate}, [&](auto &context, auto &expression) {
			auto copy = expression.Copy();
			auto &changed = copy->template Cast<duckdb::BoundAggregateExpression>();
			changed.function.SetStateFinalizeCallback(nullptr);
			std::string reason;
			EXPECT_FALSE(SplitAggregate(context, changed, reason)) << aggregate;
			EXPECT_NE(reason.find("is not the built-in function"), std::string::npos) << reason;
		});
	}
}

} // namespace
} // namespace skein
