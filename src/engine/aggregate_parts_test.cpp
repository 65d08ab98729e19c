#include "engine/aggregate_parts.hpp"

#include "engine/aggregate_state.hpp"
#include "engine/plan_serializer.hpp"

#include "duckdb/parser/statement/logical_plan_statement.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace skein {
namespace {

using namespace duckdb;

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
       (n / 10)::DECIMAL(4, 1) AS d4, (n * 1000.01)::DECIMAL(9, 2) AS d9, (i64 // 10000)::DECIMAL(18, 3) AS d18,
       (i128 // 10)::DECIMAL(38, 1) AS d38,
       n > 0 AS flag, CASE WHEN is_set THEN 'value number ' || (h % 1000) END AS s, CASE WHEN is_set THEN chr(65 + (h % 26)::INT) END AS c,
       s::BLOB AS bytes, DATE '2000-01-01' + n AS day, TIMESTAMP '2000-01-01' + to_microseconds(i64 % 1000000000000000) AS ts,
       ts::TIMESTAMPTZ AS tstz, TIME '12:00' + to_seconds(n) AS tm, tm::TIMETZ AS tmtz, ts::TIMESTAMP_S AS ts_s,
       to_days(n) + to_seconds(n * 7) + to_months(n) AS iv, CASE WHEN is_set THEN md5(i::VARCHAR)::UUID END AS u,
       CASE WHEN is_set THEN (h % 65536)::INT::BIT END AS bits,
       (CASE h % 3 WHEN 0 THEN 'low' WHEN 1 THEN 'middle' WHEN 2 THEN 'high' END)::ENUM('low', 'middle', 'high') AS e,
       CASE WHEN is_set THEN [n, i % 3] END AS l, CASE WHEN is_set THEN {'a': n % 4, 'b': s} END AS st,
       [n % 4, i % 3, 1]::INTEGER[3] AS arr, CASE WHEN is_set THEN [{'x': [s]}] END AS nested
FROM range(3000) rows(i))";

const std::vector<std::string> EXACT_NUMBERS{"i8",	"i16", "i32", "i64", "i128", "u8",
											 "u16", "u32", "d4",  "d9",	 "d18",	 "d38"};
const std::vector<std::string> DOUBLES{"f32", "f64", "u64", "u128"};

//! All columns that any test aggregates.
std::vector<std::string> AllColumns() {
	auto columns = EXACT_NUMBERS;
	columns.insert(columns.end(), DOUBLES.begin(), DOUBLES.end());
	for (auto column : {"big", "flag", "s", "c", "bytes", "day", "ts", "tstz", "tm", "tmtz", "ts_s", "iv", "u", "bits",
						"e", "l", "st", "arr", "nested"}) {
		columns.push_back(column);
	}
	return columns;
}

std::string Call(const std::string &function, const std::string &argument) {
	return function + "(" + argument + ")";
}

struct Instance {
	Instance() : database(nullptr), connection(database) {
		RegisterAggregateState(*database.instance);
		Run("SET disabled_optimizers = 'compressed_materialization'");
		Run("SET TimeZone = 'UTC'");
		Run(CREATE_TABLE);
	}
	unique_ptr<MaterializedQueryResult> Run(const std::string &sql) {
		auto result = connection.Query(sql);
		if (result->HasError()) {
			throw InvalidInputException(result->GetErrorObject().RawMessage() + " in " + sql);
		}
		return result;
	}

	DuckDB database;
	Connection connection;
};

//! The result by group; the group is text, `<all>` without GROUP BY.
using Groups = std::map<std::string, Value>;

Groups ToGroups(QueryResult &result) {
	if (result.HasError()) {
		result.GetErrorObject().Throw();
	}
	Groups groups;
	auto grouped = result.ColumnCount() == 2;
	while (auto chunk = result.Fetch()) {
		for (idx_t row = 0; row < chunk->size(); row++) {
			auto group = grouped ? chunk->GetValue(0, row).ToString() : "<all>";
			auto is_new = groups.emplace(group, chunk->GetValue(grouped ? 1 : 0, row)).second;
			EXPECT_TRUE(is_new) << "group " << group << " comes twice";
		}
	}
	return groups;
}

bool IsFloat(const LogicalType &type) {
	return type.id() == LogicalTypeId::DOUBLE || type.id() == LogicalTypeId::FLOAT;
}

void ExpectSame(const Value &actual, const Value &expected, double tolerance) {
	ASSERT_EQ(actual.type(), expected.type());
	if (!IsFloat(expected.type()) || expected.IsNull() || actual.IsNull() ||
		!Value::IsFinite(expected.GetValue<double>())) {
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

unique_ptr<LogicalOperator> &FindAggregate(unique_ptr<LogicalOperator> &plan) {
	if (plan->type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY) {
		return plan;
	}
	if (plan->children.empty()) {
		throw InternalException("No aggregate in the plan");
	}
	return FindAggregate(plan->children[0]);
}

struct Query {
	std::string aggregate;
	bool grouped = true;
	std::string where = "true";
	std::string table = "t";
	std::string group = "g";

	std::string Sql(const std::string &slice_filter) const {
		auto sql = "SELECT " + (grouped ? group + ", " : "") + aggregate + " FROM " + table + " WHERE (" + where +
				   ") AND " + slice_filter;
		return grouped ? sql + " GROUP BY " + group : sql;
	}
};

//!     Projection                 Projection
//!       Aggregate                  Aggregate[final]
//!         Scan             =>        Union
//!                                      Aggregate[partial]   (per slice)
//!                                        Scan[slice]
class TwoStepPlan {
public:
	TwoStepPlan(Instance &instance, const Query &query, const std::vector<int> &slices)
		: context_(*instance.connection.context) {
		unique_ptr<LogicalOperator> plan;
		vector<unique_ptr<LogicalOperator>> partials;
		for (auto slice : slices) {
			plan = instance.connection.ExtractPlan(query.Sql("slice = " + std::to_string(slice)));
			partials.push_back(MakePartial(FindAggregate(plan)));
		}
		FindAggregate(plan) = MakeFinal(std::move(partials));
		plan->ResolveOperatorTypes();
		plan_ = std::move(plan);
	}

	unique_ptr<LogicalOperator> Take() {
		return std::move(plan_);
	}

private:
	static constexpr idx_t UNION_INDEX = 1000;

	//! Moves the aggregate out, as a partial one; leaves the final one's frame.
	unique_ptr<LogicalOperator> MakePartial(unique_ptr<LogicalOperator> &slot) {
		auto frame = make_uniq<LogicalAggregate>(slot->Cast<LogicalAggregate>().group_index,
												 slot->Cast<LogicalAggregate>().aggregate_index,
												 vector<unique_ptr<Expression>>());
		auto partial = std::move(slot);
		slot = std::move(frame);
		parts_.clear();
		auto &aggregate = partial->Cast<LogicalAggregate>();
		group_types_.clear();
		for (auto &group : aggregate.groups) {
			group_types_.push_back(group->return_type);
		}
		for (auto &expression : aggregate.expressions) {
			std::string reason;
			auto parts = SplitAggregate(context_, expression->Cast<BoundAggregateExpression>(), reason);
			if (!parts) {
				throw InternalException("Not divided: " + reason);
			}
			expression = std::move(parts->partial);
			parts_.push_back(std::move(*parts));
		}
		partial->ResolveOperatorTypes();
		group_index_ = aggregate.group_index;
		aggregate_index_ = aggregate.aggregate_index;
		return partial;
	}

	unique_ptr<LogicalOperator> MakeFinal(vector<unique_ptr<LogicalOperator>> partials) {
		auto group_count = group_types_.size();
		vector<unique_ptr<Expression>> finals;
		for (idx_t i = 0; i < parts_.size(); i++) {
			finals.push_back(parts_[i].make_final(context_, Column(parts_[i].partial_type, group_count + i)));
		}
		auto result = make_uniq<LogicalAggregate>(group_index_, aggregate_index_, std::move(finals));
		for (idx_t i = 0; i < group_count; i++) {
			result->groups.push_back(Column(group_types_[i], i));
		}
		if (partials.size() == 1) {
			throw InternalException("One slice is no division");
		}
		result->children.push_back(make_uniq<LogicalSetOperation>(
			UNION_INDEX, group_count + parts_.size(), std::move(partials), LogicalOperatorType::LOGICAL_UNION, true));
		return result;
	}

	static unique_ptr<Expression> Column(const LogicalType &type, idx_t index) {
		return make_uniq<BoundColumnRefExpression>(type, ColumnBinding(UNION_INDEX, index));
	}

	ClientContext &context_;
	std::vector<AggregateParts> parts_;
	vector<LogicalType> group_types_;
	idx_t group_index_ = 0;
	idx_t aggregate_index_ = 0;
	unique_ptr<LogicalOperator> plan_;
};

class AggregatePartsTest : public testing::Test {
protected:
	static void SetUpTestSuite() {
		coordinator = std::make_unique<Instance>();
		worker = std::make_unique<Instance>();
		worker->connection.context->config.enable_optimizer = false;
	}
	static void TearDownTestSuite() {
		worker.reset();
		coordinator.reset();
	}

	//! Splits the query at the coordinator, executes it as the worker reads it, and compares with DuckDB's result.
	static void Check(const Query &query, double tolerance = 1e-12, const std::vector<int> &slices = {0, 1, 2, 3}) {
		SCOPED_TRACE(query.Sql("..."));
		try {
			std::string numbers;
			for (auto slice : slices) {
				numbers += (numbers.empty() ? "" : ", ") + std::to_string(slice);
			}
			auto expected = ToGroups(*coordinator->Run(query.Sql("slice IN (" + numbers + ")")));
			ExpectSame(ToGroups(*RunTwoSteps(query, slices)), expected, tolerance);
		} catch (const std::exception &error) {
			FAIL() << error.what();
		}
	}

	static unique_ptr<QueryResult> RunTwoSteps(const Query &query, const std::vector<int> &slices) {
		std::string bytes;
		coordinator->connection.BeginTransaction();
		try {
			auto plan = TwoStepPlan(*coordinator, query, slices).Take();
			bytes = SerializePlan(*coordinator->connection.context, *plan);
		} catch (...) {
			coordinator->connection.Rollback();
			throw;
		}
		coordinator->connection.Commit();

		worker->connection.BeginTransaction();
		try {
			auto binder = Binder::CreateBinder(*worker->connection.context);
			auto plan = DeserializePlan(*worker->connection.context, bytes, *binder);
			auto result = worker->connection.Query(make_uniq<LogicalPlanStatement>(std::move(plan)));
			worker->connection.Commit();
			return result;
		} catch (...) {
			worker->connection.Rollback();
			throw;
		}
	}

	//! The reason why the aggregate cannot be split; empty if it can.
	static std::string ReasonAgainst(const std::string &aggregate) {
		coordinator->connection.BeginTransaction();
		std::string reason;
		auto plan = coordinator->connection.ExtractPlan(Query{aggregate}.Sql("true"));
		auto &expression = FindAggregate(plan)->expressions[0]->Cast<BoundAggregateExpression>();
		auto parts = SplitAggregate(*coordinator->connection.context, expression, reason);
		EXPECT_EQ(parts.has_value(), reason.empty());
		coordinator->connection.Rollback();
		return reason;
	}

	static std::unique_ptr<Instance> coordinator;
	static std::unique_ptr<Instance> worker;
};

std::unique_ptr<Instance> AggregatePartsTest::coordinator;
std::unique_ptr<Instance> AggregatePartsTest::worker;

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
}

TEST_F(AggregatePartsTest, SumsThatCannotOverflowAddUp) {
	for (auto column : {"i32", "d9", "n", "d18"}) {
		Query query{Call("sum", column)};
		Check(query);
		query.grouped = false;
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

TEST_F(AggregatePartsTest, FilterStaysWithTheRows) {
	for (auto aggregate : {"count(*)", "count(n)", "sum(d9)", "min(s)", "avg(i64)", "stddev(f64)", "corr(f64, f64b)",
						   "approx_count_distinct(s)", "bool_or(flag)"}) {
		Query query{std::string(aggregate) + " FILTER (i8 > 20 OR c = 'A')"};
		Check(query);
		query.grouped = false;
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
		Query query{aggregate};
		query.grouped = false;
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
		Check({aggregate, true, "g = 5"});
	}
}

TEST_F(AggregatePartsTest, ManyAggregatesShareOnePlan) {
	Check({"{'n': count(*), 'a': avg(d9), 'b': avg(i32), 'c': sum(d9), 'd': min(s), 'e': max(n) FILTER (flag)}"});
	Check({"avg(n) - avg(i64) FILTER (flag) + count(*) + stddev_pop(n)"});
}

TEST_F(AggregatePartsTest, ManyGroupsCombineInParallel) {
	constexpr const char *create = "CREATE TABLE big AS SELECT i % 4 AS slice, (i * 7919) % 100003 AS g, i % 3 AS k, "
								   "i AS n, i / 7 AS f64, i::DECIMAL(12, 2) AS d FROM range(400000) rows(i)";
	for (auto instance : {coordinator.get(), worker.get()}) {
		instance->Run("SET threads = 4");
		instance->Run("SET preserve_insertion_order = false");
		instance->Run(create);
	}
	for (auto aggregate : {"count(*)", "sum(n)", "avg(d)", "avg(n)", "stddev(f64)", "approx_count_distinct(n)",
						   "regr_slope(f64, n)", "max(n)"}) {
		Check({aggregate, true, "true", "big"}, 1e-9);
		Check({aggregate, true, "true", "big", "k"}, 1e-9);
		Check({aggregate, false, "true", "big"}, 1e-9);
	}
}

TEST_F(AggregatePartsTest, WhatNeedsAllRowsIsRefused) {
	for (auto aggregate : {"count(DISTINCT n)",
						   "sum(DISTINCT n)",
						   "avg(DISTINCT n)",
						   "bit_xor(DISTINCT u8)",
						   "stddev(DISTINCT n)",
						   "first(n)",
						   "last(n)",
						   "any_value(n)",
						   "arbitrary(n)",
						   "arg_min(s, n)",
						   "arg_max(n, i64)",
						   "min(n, 3)",
						   "max(s, 2)",
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
						   "min(s COLLATE NOCASE)",
						   "list(n ORDER BY n)",
						   "avg(n) EXPORT_STATE"}) {
		EXPECT_NE(ReasonAgainst(aggregate), "") << aggregate;
	}
}

TEST_F(AggregatePartsTest, ReasonsNameTheFunction) {
	EXPECT_EQ(ReasonAgainst("median(n)"),
			  "median cannot be computed from parts: the rows of a group have to be in one place");
	EXPECT_EQ(ReasonAgainst("count(DISTINCT n)"), "count is DISTINCT: equal values have to be in one place");
	EXPECT_EQ(ReasonAgainst("sum(n)"), "");
}

} // namespace
} // namespace skein
