#include "engine/adaptive_aggregate.hpp"

#include "engine/fake_worker.hpp"
#include "engine/plan_serializer.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

constexpr const char *SELECT = "k, s, count(*) AS c, sum(v) AS t, max(v) AS x, count(d) AS n, min(d) AS l";

//! Combines the parts, whose values end with a bar each.
constexpr const char *COMBINE =
	"SELECT k::BIGINT AS k, trim(s, '''') AS s, sum(c::BIGINT)::BIGINT, sum(t::HUGEINT), max(x::BIGINT), "
	"sum(n::BIGINT)::BIGINT, min(nullif(l, 'NULL')::DOUBLE) "
	"FROM (SELECT unnest(struct_pack(k := f[1], s := f[2], c := f[3], t := f[4], x := f[5], n := f[6], l := f[7])) "
	"FROM (SELECT string_split(part, '|') AS f FROM parts)) GROUP BY ALL ORDER BY ALL";

//! Makes every aggregate of the plan a partial one.
void MakePartial(unique_ptr<LogicalOperator> &op) {
	for (auto &child : op->children) {
		MakePartial(child);
	}
	if (op->type != LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY) {
		return;
	}
	auto &aggregate = op->Cast<LogicalAggregate>();
	auto partial = make_uniq<LogicalPartialAggregate>(aggregate.group_index, aggregate.aggregate_index,
													  std::move(aggregate.expressions));
	partial->groupings_index = aggregate.groupings_index;
	partial->groups = std::move(aggregate.groups);
	partial->grouping_sets = std::move(aggregate.grouping_sets);
	partial->group_stats = std::move(aggregate.group_stats);
	partial->children = std::move(aggregate.children);
	partial->ResolveOperatorTypes();
	op = std::move(partial);
}

class AdaptiveAggregateTest : public testing::Test {
protected:
	AdaptiveAggregateTest() : connection_(database_) {
		Query("SET disabled_optimizers='compressed_materialization,late_materialization'");
		worker_.Query("SET threads=1");
		std::filesystem::create_directories(folder_);
	}
	~AdaptiveAggregateTest() override {
		std::filesystem::remove_all(folder_);
	}

	std::vector<std::string> Query(const std::string &sql) {
		return RowsOf(*connection_.Query(sql));
	}

	//! A table of rows k, s, v in one row group; `k`: over i, from 0 on.
	void MakeRows(idx_t rows, const std::string &k) {
		Query("COPY (SELECT k, 'name ' || k % 1000 AS s, i AS v, CASE WHEN i % 3 > 0 THEN i % 100 END::DOUBLE AS d "
			  "FROM (SELECT i, (" +
			  k + ")::BIGINT AS k FROM range(" + std::to_string(rows) + ") t(i))) TO '" + file_ +
			  "' (ROW_GROUP_SIZE 10000000)");
		rows_ = rows;
	}

	//! The parts that a worker returns, as a table of the connection; their number.
	idx_t Parts(const std::string &select, const std::string &groups) {
		std::string bytes;
		auto sql = "SELECT " + select + " FROM '" + file_ + "' GROUP BY " + groups;
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			MakePartial(plan);
			bytes = SerializePlan(context, *plan);
		});
		parts_ = worker_.Run(bytes);
		return parts_.size();
	}

	//! That the parts, combined, are what DuckDB says.
	void Check() {
		Query("CREATE OR REPLACE TABLE parts(part VARCHAR)");
		{
			Appender appender(connection_, "parts");
			for (auto &part : parts_) {
				appender.AppendRow(Value(part));
			}
		}
		auto rows = Query(COMBINE);
		auto expected = Query("SELECT k, s, count(*), sum(v), max(v), count(d), min(d) FROM '" + file_ +
							  "' GROUP BY k, s ORDER BY ALL");
		ASSERT_EQ(rows.size(), expected.size());
		EXPECT_EQ(rows, expected);
	}

	const std::string folder_ =
		(std::filesystem::temp_directory_path() / ("skein_adaptive_aggregate_" + std::to_string(getpid()))).string();
	const std::string file_ = folder_ + "/rows.parquet";
	DuckDB database_{nullptr};
	Connection connection_;
	FakeWorker worker_;
	idx_t rows_ = 0;
	std::vector<std::string> parts_;
};

TEST_F(AdaptiveAggregateTest, RowsOfFewGroupsAreFewer) {
	MakeRows(300000, "i % 5000");
	EXPECT_EQ(Parts(SELECT, "k, s"), 5000u);
	Check();
}

TEST_F(AdaptiveAggregateTest, RowsWithoutGroupsPass) {
	MakeRows(150000, "i");
	EXPECT_EQ(Parts(SELECT, "k, s"), rows_);
	Check();
}

TEST_F(AdaptiveAggregateTest, GroupsThatComeLaterAreFound) {
	MakeRows(700000, "CASE WHEN i < 100000 THEN i ELSE i % 100 END");
	auto parts = Parts(SELECT, "k, s");
	EXPECT_GT(parts, 100000u);
	EXPECT_LT(parts, 300000u);
	Check();
}

TEST_F(AdaptiveAggregateTest, ManyGroupsThatRepeatAreKept) {
	// Each of 60,000 groups comes five times, first all of them once.
	MakeRows(300000, "hash(i % 60000) % 1000000000");
	auto parts = Parts(SELECT, "k, s");
	EXPECT_LT(parts, rows_);
	Check();
}

TEST_F(AdaptiveAggregateTest, FiltersAndManyThreadsAreLeftToDuckDB) {
	MakeRows(150000, "i");
	auto has_adaptive = [](LogicalOperator &plan) {
		std::function<bool(LogicalOperator &)> find = [&](LogicalOperator &op) {
			return op.GetName() == "ADAPTIVE_AGGREGATE" ||
				   std::any_of(op.children.begin(), op.children.end(), [&](auto &child) { return find(*child); });
		};
		return find(plan);
	};
	auto adapts = [&](const std::string &sql) {
		std::string bytes;
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			MakePartial(plan);
			bytes = SerializePlan(context, *plan);
		});
		bool result = false;
		worker_.Run(bytes, [&](LogicalOperator &plan) { result = has_adaptive(plan); });
		return result;
	};
	auto from = " FROM '" + file_ + "' ";
	EXPECT_TRUE(adapts("SELECT k, sum(v)" + from + "GROUP BY k"));
	EXPECT_FALSE(adapts("SELECT k, sum(v) FILTER (d > 3)" + from + "GROUP BY k"));
	EXPECT_FALSE(adapts("SELECT sum(v)" + from));
	EXPECT_FALSE(adapts("SELECT k, s, sum(v)" + from + "GROUP BY ROLLUP (k, s)"));
	// Found by value, in a table of 256 places; a state with memory of its own.
	EXPECT_FALSE(adapts("SELECT (k % 10)::UTINYINT, sum(v)" + from + "GROUP BY ALL"));
	EXPECT_FALSE(adapts("SELECT k, min(s)" + from + "GROUP BY ALL"));
	worker_.Query("SET threads=8");
	EXPECT_FALSE(adapts("SELECT k, sum(v)" + from + "GROUP BY k"));
}

} // namespace
} // namespace skein
