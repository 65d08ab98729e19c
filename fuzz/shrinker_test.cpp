#include "fuzz/shrinker.hpp"

#include <gtest/gtest.h>

namespace skein::fuzz {
namespace {

class ShrinkerTest : public testing::Test {
protected:
	//! Shrinks as long as all of `parts` are in the text.
	std::string Shrink(const std::string &sql, const std::vector<std::string> &parts) {
		return Shrinker(connection_, std::chrono::seconds(30)).Shrink(sql, [&](const std::string &candidate) {
			tries_++;
			return std::all_of(parts.begin(), parts.end(),
							   [&](auto &part) { return candidate.find(part) != std::string::npos; });
		});
	}

	duckdb::DuckDB database_{nullptr};
	duckdb::Connection connection_{database_};
	size_t tries_ = 0;
};

TEST_F(ShrinkerTest, DropsClausesAndColumns) {
	auto sql = "SELECT a, b + 1 AS x, max(c) FROM t WHERE d > 3 AND e GROUP BY a, b HAVING count(*) > 1 ORDER BY a";
	EXPECT_EQ(Shrink(sql, {"max(c)"}), "SELECT max(c) FROM t");
}

TEST_F(ShrinkerTest, KeepsOneSideOfJoinsAndUnions) {
	auto sql = "SELECT q.x FROM u LEFT JOIN (SELECT x FROM v WHERE y) q ON u.x = q.x UNION ALL SELECT z FROM w";
	EXPECT_EQ(Shrink(sql, {"FROM v"}), "SELECT x FROM v");
	EXPECT_EQ(Shrink(sql, {"FROM w"}), "SELECT z FROM w");
}

TEST_F(ShrinkerTest, ReplacesExpressionsByTheirParts) {
	EXPECT_EQ(Shrink("SELECT CASE WHEN a > 1 THEN upper(lower(s)) ELSE 'x' END AS c FROM t", {"lower("}),
			  "SELECT lower(s) AS c FROM t");
	EXPECT_EQ(Shrink("SELECT 1 FROM t WHERE a IN (SELECT b FROM u WHERE c = 5) AND NOT d", {"FROM u"}),
			  "SELECT 1 FROM t WHERE (a = ANY(SELECT b FROM u))");
}

TEST_F(ShrinkerTest, PutsSimplerTablesInThePlaceOfOthers) {
	EXPECT_EQ(Shrink("SELECT k FROM lopsided", {"k"}), "SELECT k FROM single");
	EXPECT_EQ(Shrink("SELECT k FROM lopsided a, tpch b", {"AS a", "AS b"}), "SELECT k FROM single AS a , tpch AS b");
}

TEST_F(ShrinkerTest, KeepsTheOrderThatALimitNeeds) {
	auto shrunk = Shrink("SELECT a, b FROM t ORDER BY a, b LIMIT 3 OFFSET 1", {"LIMIT"});
	EXPECT_NE(shrunk.find("ORDER BY a, b"), std::string::npos) << shrunk;
	EXPECT_EQ(shrunk.find("OFFSET"), std::string::npos) << shrunk;
}

TEST_F(ShrinkerTest, LeavesTheValuesOfOrderedAggregatesAlone) {
	auto sql = "SELECT array_agg(a + 1 ORDER BY a + 1), arg_min(b + 1, struct_pack(x := c, y := b + 1)) FROM t";
	EXPECT_EQ(Shrink(sql, {"array_agg", "arg_min"}),
			  "SELECT array_agg((a + 1) ORDER BY (a + 1)), arg_min((b + 1), struct_pack(x := c, y := (b + 1))) FROM t");
	// As DuckDB's parser writes it.
	EXPECT_EQ(Shrink("SELECT list(a ORDER BY a DESC NULLS LAST) FROM t", {"list(a)"}),
			  "SELECT list_sort(list(a), 'DESCENDING', 'NULLS LAST') FROM t");
}

TEST_F(ShrinkerTest, ReturnsTheQueryItselfWhenTheTestDoesNotHold) {
	auto sql = "SELECT  a  FROM t";
	EXPECT_EQ(Shrink(sql, {"absent"}), sql);
	EXPECT_EQ(tries_, 1u);
	EXPECT_EQ(Shrink("SELECT FROM WHERE", {"FROM"}), "SELECT FROM WHERE");
}

TEST_F(ShrinkerTest, EndsAtItsLimit) {
	auto sql = "SELECT a, b, c FROM t";
	EXPECT_EQ(Shrinker(connection_, std::chrono::seconds(0)).Shrink(sql, [](auto &) { return true; }), sql);
}

} // namespace
} // namespace skein::fuzz
