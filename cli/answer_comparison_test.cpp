#include "answer_check.hpp"
#include "answer_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace skein::cli {
namespace {

using Order = std::vector<duckdb::idx_t>;

class AnswerComparisonTest : public testing::Test {
protected:
	Answer Ask(const std::string &sql) {
		auto result = connection_.Query(sql);
		if (result->HasError()) {
			result->ThrowError();
		}
		return Answer::From(*result);
	}
	//! The rows of a VALUES list.
	Answer Values(const std::string &rows) {
		return Ask("SELECT * FROM (VALUES " + rows + ") t");
	}
	bool Equal(const std::string &expected, const std::string &actual, const Order &order = {}) {
		return !FindDifference(Values(expected), Values(actual), order).has_value();
	}
	Order OrderOf(const std::string &sql) {
		return FindOrder(*Parse(sql), Ask(sql));
	}
	duckdb::unique_ptr<duckdb::SQLStatement> Parse(const std::string &sql) {
		auto statements = connection_.ExtractStatements(sql);
		return std::move(statements[0]);
	}

	duckdb::DuckDB database_{nullptr};
	duckdb::Connection connection_{database_};
};

TEST_F(AnswerComparisonTest, RowsMayComeInAnyOrder) {
	EXPECT_TRUE(Equal("(1, 'a'), (2, 'b'), (2, 'b')", "(2, 'b'), (1, 'a'), (2, 'b')"));
}

TEST_F(AnswerComparisonTest, EachRowCounts) {
	EXPECT_FALSE(Equal("(1), (2), (2)", "(1), (1), (2)"));
	EXPECT_FALSE(Equal("(1), (2)", "(1)"));
	EXPECT_FALSE(Equal("(1)", "(1), (1)"));
	EXPECT_FALSE(Equal("(1, 'a'), (2, 'b')", "(1, 'b'), (2, 'a')"));
}

TEST_F(AnswerComparisonTest, NullsAgreeOnlyWithNulls) {
	EXPECT_TRUE(Equal("(NULL, 1), (0, 1)", "(0, 1), (NULL, 1)"));
	EXPECT_FALSE(Equal("(NULL, 1), (1, 1)", "(0, 1), (1, 1)"));
	EXPECT_FALSE(Equal("(NULL::DOUBLE), (1)", "(0), (1::DOUBLE)"));
	EXPECT_FALSE(Equal("(NULL::DOUBLE), (1)", "('nan'::DOUBLE), (1)"));
}

TEST_F(AnswerComparisonTest, EmptyAnswersAreEqual) {
	auto empty = Ask("SELECT 1 AS a WHERE false");
	EXPECT_FALSE(FindDifference(empty, empty, {}));
	EXPECT_TRUE(FindDifference(empty, Ask("SELECT 1 AS a"), {}));
	EXPECT_TRUE(FindDifference(Ask("SELECT 1 AS a"), empty, {}));
}

TEST_F(AnswerComparisonTest, DoublesAgreeWithinTolerance) {
	EXPECT_TRUE(Equal("(1e9::DOUBLE)", "(1e9::DOUBLE + 0.5)"));
	EXPECT_FALSE(Equal("(1e9::DOUBLE)", "(1e9::DOUBLE + 2)"));
	EXPECT_FALSE(Equal("(1e-20::DOUBLE)", "(2e-20::DOUBLE)"));
	EXPECT_TRUE(Equal("('nan'::DOUBLE), ('inf'), ('-inf'), (0)", "('-inf'::DOUBLE), (-0.0), ('nan'), ('inf')"));
	EXPECT_FALSE(Equal("('inf'::DOUBLE)", "('-inf'::DOUBLE)"));
	EXPECT_FALSE(Equal("('inf'::DOUBLE)", "('nan'::DOUBLE)"));
	EXPECT_FALSE(Equal("('inf'::DOUBLE)", "(1e308::DOUBLE)"));
}

TEST_F(AnswerComparisonTest, OtherNumbersAreExact) {
	EXPECT_FALSE(Equal("(1000000000::FLOAT)", "(1000000064::FLOAT)"));
	EXPECT_FALSE(Equal("(10000000000.00::DECIMAL(20, 2))", "(10000000000.01::DECIMAL(20, 2))"));
	EXPECT_FALSE(Equal("(9223372036854775807)", "(9223372036854775806)"));
}

TEST_F(AnswerComparisonTest, DoublesInsideNestedValuesAgreeWithinTolerance) {
	EXPECT_TRUE(Equal("([1e9::DOUBLE, NULL])", "([1e9::DOUBLE + 0.5, NULL])"));
	EXPECT_FALSE(Equal("([1e9::DOUBLE, NULL])", "([1e9::DOUBLE + 2, NULL])"));
	EXPECT_FALSE(Equal("([1::DOUBLE, 2])", "([1::DOUBLE])"));
	EXPECT_TRUE(Equal("({'a': 1e9::DOUBLE, 'b': 'x'})", "({'a': 1e9::DOUBLE + 0.5, 'b': 'x'})"));
	EXPECT_FALSE(Equal("({'a': 1e9::DOUBLE, 'b': 'x'})", "({'a': 1e9::DOUBLE, 'b': 'y'})"));
	EXPECT_FALSE(Equal("([1, 2])", "([2, 1])"));
}

TEST_F(AnswerComparisonTest, RowsNearlyEqualInSeveralDoublesFindTheirPartners) {
	// Sorted by the first column, which differs only by noise, the second columns do not line up.
	EXPECT_TRUE(Equal("(1e9::DOUBLE, 5::DOUBLE), (1e9 + 0.1, 7), (1e9 + 0.2, 9)",
					  "(1e9::DOUBLE, 9::DOUBLE), (1e9 + 0.1, 5), (1e9 + 0.2, 7)"));
	EXPECT_FALSE(Equal("(1e9::DOUBLE, 5::DOUBLE), (1e9 + 0.1, 7), (1e9 + 0.2, 9)",
					   "(1e9::DOUBLE, 9::DOUBLE), (1e9 + 0.1, 5), (1e9 + 0.2, 5)"));
}

TEST_F(AnswerComparisonTest, ARowGivesUpItsPartnerForAnother) {
	// 1e9+0.8 agrees with both candidates, 1e9 only with the first of them.
	EXPECT_TRUE(Equal("(1e9::DOUBLE, 1::DOUBLE), (1e9 + 0.8, 1)", "(1e9::DOUBLE + 0.7, 1::DOUBLE), (1e9 + 1.6, 1)"));
	EXPECT_FALSE(Equal("(1e9::DOUBLE, 1::DOUBLE), (1e9 + 0.1, 1)", "(1e9::DOUBLE + 0.7, 1::DOUBLE), (1e9 + 1.6, 1)"));
}

TEST_F(AnswerComparisonTest, LongChainsOfPartnersAreFollowed) {
	// Every row's own partner is two places further in sorted order; no recursion may be needed to find that out.
	auto rows = [](double shift) {
		return "SELECT 1 + 4e-10 * i + " + std::to_string(shift) +
			   "e-10 AS x, CASE WHEN i % 2 = 0 THEN 1 ELSE 2 END::DOUBLE AS y "
			   "FROM range(20000) t(i)";
	};
	EXPECT_FALSE(FindDifference(Ask(rows(0)), Ask(rows(4)), {}).has_value());
}

TEST_F(AnswerComparisonTest, NamesAndTypesMustBeTheSame) {
	EXPECT_TRUE(FindDifference(Ask("SELECT 1 AS a"), Ask("SELECT 1 AS b"), {}));
	EXPECT_TRUE(FindDifference(Ask("SELECT 1 AS a"), Ask("SELECT 1::BIGINT AS a"), {}));
	EXPECT_TRUE(FindDifference(Ask("SELECT 1 AS a"), Ask("SELECT 1 AS a, 2 AS b"), {}));
}

TEST_F(AnswerComparisonTest, OrderIsComparedInTheOrderColumnsOnly) {
	EXPECT_TRUE(Equal("(1, 'a'), (1, 'b'), (2, 'c')", "(1, 'b'), (1, 'a'), (2, 'c')", {0}));
	EXPECT_FALSE(Equal("(1, 'a'), (1, 'b'), (2, 'c')", "(1, 'a'), (2, 'c'), (1, 'b')", {0}));
	EXPECT_FALSE(Equal("(1, 'a'), (1, 'b'), (2, 'c')", "(1, 'b'), (1, 'a'), (2, 'c')", {0, 1}));
	EXPECT_FALSE(Equal("(NULL, 1), (2, 1)", "(2, 1), (NULL, 1)", {0}));
	EXPECT_TRUE(Equal("(1e9::DOUBLE), (1e9 + 0.1)", "(1e9::DOUBLE + 0.1), (1e9)", {0}));
}

TEST_F(AnswerComparisonTest, TheMessageNamesTheRow) {
	EXPECT_EQ(*FindDifference(Values("(1, 'a')"), Values("(1, 'b')"), {}), "row 1 is not expected: (1, b)");
	EXPECT_EQ(*FindDifference(Values("(1), (2)"), Values("(2), (1)"), {0}),
			  "row 1 is out of order: col0 is 2 instead of 1");
}

TEST_F(AnswerComparisonTest, SortKeysAreFoundInTheAnswer) {
	Ask("CREATE TABLE t AS SELECT 1 AS a, 2 AS b, 3 AS c");
	EXPECT_EQ(OrderOf("SELECT a, b FROM t"), Order());
	EXPECT_EQ(OrderOf("SELECT a, b FROM t ORDER BY b DESC, A"), Order({1, 0}));
	EXPECT_EQ(OrderOf("SELECT a, b FROM t ORDER BY 2 LIMIT 1"), Order({1}));
	EXPECT_EQ(OrderOf("SELECT a, b FROM t ORDER BY ALL"), Order({0, 1}));
	EXPECT_EQ(OrderOf("SELECT a, sum(b) AS s FROM t GROUP BY a ORDER BY s, a"), Order({1, 0}));
	EXPECT_EQ(OrderOf("SELECT a, sum(b) FROM t GROUP BY a ORDER BY sum(b)"), Order({1}));
	EXPECT_EQ(OrderOf("SELECT * FROM t ORDER BY t.c"), Order({2}));
	EXPECT_EQ(OrderOf("SELECT t.a, t.b FROM t ORDER BY t.b"), Order({1}));
	EXPECT_EQ(OrderOf("WITH x AS (SELECT a FROM t ORDER BY 1) SELECT * FROM x"), Order());
	EXPECT_EQ(OrderOf("WITH x AS MATERIALIZED (SELECT a, b FROM t) SELECT * FROM x ORDER BY b"), Order({1}));
	EXPECT_EQ(OrderOf("SELECT a FROM t UNION ALL SELECT b FROM t ORDER BY a"), Order({0}));
}

TEST_F(AnswerComparisonTest, SortKeysThatAreNotInTheAnswerEndTheOrder) {
	Ask("CREATE TABLE t AS SELECT 1 AS a, 2 AS b, 3 AS c");
	EXPECT_EQ(OrderOf("SELECT a, b FROM t ORDER BY c, a"), Order());
	EXPECT_EQ(OrderOf("SELECT a, b FROM t ORDER BY b, a + b, a"), Order({1}));
	// The alias `a` is not the column t.a.
	EXPECT_EQ(OrderOf("SELECT -a AS a FROM t ORDER BY t.a"), Order());
	EXPECT_EQ(OrderOf("SELECT a, b AS a FROM t ORDER BY 1, 2"), Order({0, 1}));
}

TEST_F(AnswerComparisonTest, ALimitLeavesAChoiceAmongTiesOnly) {
	auto unlimited = Values("(1, 'a'), (2, 'b'), (2, 'c'), (3, 'd')");
	auto expected = Values("(1, 'a'), (2, 'b')");
	EXPECT_FALSE(FindIllegalChoice(expected, unlimited, Values("(1, 'a'), (2, 'c')"), {0}));
	EXPECT_TRUE(FindIllegalChoice(expected, unlimited, Values("(1, 'a'), (3, 'd')"), {0}));
	EXPECT_TRUE(FindIllegalChoice(expected, unlimited, Values("(1, 'a'), (2, 'x')"), {0}));
	EXPECT_TRUE(FindIllegalChoice(expected, unlimited, Values("(1, 'a')"), {0}));
	EXPECT_TRUE(FindIllegalChoice(expected, unlimited, Values("(2, 'b'), (2, 'b')"), {}));
}

TEST_F(AnswerComparisonTest, TheLimitAtTheTopIsTakenAway) {
	auto count = [&](const std::string &sql) {
		auto result = connection_.Query(WithoutLimit(*Parse(sql)));
		return result->Cast<duckdb::MaterializedQueryResult>().RowCount();
	};
	EXPECT_EQ(count("SELECT * FROM range(10) LIMIT 3"), 10U);
	EXPECT_EQ(count("SELECT * FROM range(10) ORDER BY 1 OFFSET 3"), 10U);
	EXPECT_EQ(count("SELECT * FROM range(10) LIMIT 10%"), 10U);
	EXPECT_EQ(count("SELECT * FROM (SELECT * FROM range(10) LIMIT 5) LIMIT 3"), 5U);
	EXPECT_EQ(WithoutLimit(*Parse("SELECT 1 ORDER BY 1")), nullptr);
	EXPECT_EQ(WithoutLimit(*Parse("CREATE TABLE t (a INT)")), nullptr);
}

TEST_F(AnswerComparisonTest, ComparesVariantsByWhatTheyHold) {
	auto one = Ask("SELECT [[1, 2]::VARIANT, 'a'::VARIANT] AS v");
	EXPECT_FALSE(FindDifference(one,
								Ask("SELECT list(v ORDER BY n) AS v FROM (VALUES ([1, 2]::VARIANT, 1), "
									"('a'::VARIANT, 2)) t(v, n)"),
								{}));
	EXPECT_TRUE(FindDifference(one, Ask("SELECT [[1, 3]::VARIANT, 'a'::VARIANT] AS v"), {}));
}

TEST_F(AnswerComparisonTest, ACheckAcceptsAnotherChoiceAmongTies) {
	const auto *query =
		"SELECT i // 2 AS half, i FROM (SELECT range::INTEGER AS i FROM range(10)) ORDER BY half LIMIT 3";
	AnswerCheck check(connection_, query, Ask("SELECT i // 2 AS half, i FROM (VALUES (0), (1), (2)) t(i)"));
	EXPECT_FALSE(check.FindDifferenceTo(Ask("SELECT i // 2 AS half, i FROM (VALUES (1), (0), (2)) t(i)")));
	EXPECT_FALSE(check.SawTies());
	EXPECT_TRUE(check.FindDifferenceTo(Ask("SELECT i // 2 AS half, i FROM (VALUES (1), (0), (4)) t(i)")));
	EXPECT_FALSE(check.SawTies());
	EXPECT_FALSE(check.FindDifferenceTo(Ask("SELECT i // 2 AS half, i FROM (VALUES (1), (0), (3)) t(i)")));
	EXPECT_TRUE(check.SawTies());
}

} // namespace
} // namespace skein::cli
