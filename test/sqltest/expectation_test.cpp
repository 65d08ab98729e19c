#include "expectation.hpp"

#include "test/support/oracle.hpp"
#include "test/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace skein::test {
namespace {

class ExpectationTest : public testing::Test {
protected:
	ExpectationTest()
		: variables_("a.test", folder_.Path()), expectation_(variables_), database_(nullptr), connection_(database_) {
	}

	//! `record` is a query as in a file; its own SQL gives the answer.
	std::string Mismatch(const std::string &record) {
		auto query = SqlFile::Parse("a.test", record).records.at(0);
		return expectation_.FindMismatch(query, Answer(query.sql)).value_or("");
	}
	AnswerText Answer(const std::string &sql) {
		auto outcome = RunSql(connection_, variables_.Replace(sql));
		EXPECT_TRUE(outcome.answer) << outcome.ErrorLine();
		return AnswerText::From(connection_, *outcome.answer);
	}

	TemporaryFolder folder_;
	Variables variables_;
	Expectation expectation_;
	duckdb::DuckDB database_;
	duckdb::Connection connection_;
};

TEST_F(ExpectationTest, TakesRowsWithTabsOrOneValueALine) {
	EXPECT_EQ(Mismatch("query IT\nVALUES (1, 'a'), (2, NULL)\n----\n1\ta\n2\tNULL\n"), "");
	EXPECT_EQ(Mismatch("query IT\nVALUES (1, 'a'), (2, NULL)\n----\n1\na\n2\nNULL\n"), "");
	EXPECT_EQ(Mismatch("query IT\nVALUES (1, 'a'), (2, NULL)\n----\n1\ta\n2\tb\n"),
			  "row 2, column 2 is NULL instead of b");
	EXPECT_EQ(Mismatch("query I\nVALUES (1), (2)\n----\n1\n"), "2 rows instead of 1");
	EXPECT_EQ(Mismatch("query II\nVALUES (1), (2)\n----\n1\t1\n"), "1 columns instead of 2");
	EXPECT_EQ(Mismatch("query II\nVALUES (1), (2)\n"), "");
	EXPECT_EQ(Mismatch("query II\nVALUES (1, 2), (3, 4)\n----\n1\n2\n3\n"), "the expected values are not rows of 2");
	EXPECT_EQ(Mismatch("query I\nSELECT 1 WHERE false\n----\n"), "");
}

TEST_F(ExpectationTest, WritesValuesAsTheFilesDo) {
	EXPECT_EQ(Mismatch("query TTTT\nSELECT '', true, chr(0) || 'a', [1, NULL]\n----\n(empty)\t1\t\\0a\t[1, NULL]\n"),
			  "");
	EXPECT_EQ(Mismatch("query TT\nSELECT true, false\n----\ntrue\tFALSE\n"), "");
	EXPECT_EQ(Mismatch("query T\nSELECT '__TEST_DIR__/x'\n----\n__TEST_DIR__/x\n"), "");
}

TEST_F(ExpectationTest, ComparesNumbersByValue) {
	EXPECT_EQ(Mismatch("query RR\nSELECT 1.0::DOUBLE, 2.50::DECIMAL(5,2)\n----\n1\t2.5\n"), "");
	EXPECT_EQ(Mismatch("query R\nSELECT 3.1415926::DOUBLE\n----\n3.14159\n"), "");
	EXPECT_EQ(Mismatch("query R\nSELECT 3.5::DOUBLE\n----\n3.14159\n"), "row 1, column 1 is 3.5 instead of 3.14159");
	EXPECT_EQ(Mismatch("query T\nSELECT '1.0'\n----\n1\n"), "row 1, column 1 is 1.0 instead of 1");
}

TEST_F(ExpectationTest, SortsAsTheQuerySays) {
	EXPECT_EQ(Mismatch("query IT rowsort\nVALUES (2, 'b'), (1, 'z')\n----\n1\tz\n2\tb\n"), "");
	EXPECT_EQ(Mismatch("query IT rowsort\nVALUES (2, 'b'), (1, 'z')\n----\n2\tb\n1\tz\n"), "");
	EXPECT_EQ(Mismatch("query II valuesort\nVALUES (4, 1), (3, 2)\n----\n1\n2\n3\n4\n"), "");
	EXPECT_EQ(Mismatch("query I nosort\nVALUES (2), (1)\n----\n1\n2\n"), "row 1, column 1 is 2 instead of 1");
}

TEST_F(ExpectationTest, MatchesPatternsWithWholeValues) {
	EXPECT_EQ(Mismatch("query T\nSELECT 'one' || chr(10) || 'two'\n----\n<REGEX>:one.*\n"), "");
	EXPECT_NE(Mismatch("query T\nSELECT 'one two'\n----\n<REGEX>:two\n"), "");
	EXPECT_EQ(Mismatch("query T\nSELECT 'one two'\n----\n<!REGEX>:.*three.*\n"), "");
	EXPECT_NE(Mismatch("query T\nSELECT 'one two'\n----\n<!REGEX>:.*two.*\n"), "");
}

TEST_F(ExpectationTest, ComparesHashes) {
	// md5 of "1\n2\n"
	EXPECT_EQ(Mismatch("query I\nVALUES (1), (2)\n----\n2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0\n"), "");
	EXPECT_EQ(
		Mismatch("query I rowsort\nVALUES (2), (1)\n----\n2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0\n"), "");
	EXPECT_NE(Mismatch("query I\nVALUES (2), (1)\n----\n2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0\n"), "");
}

TEST_F(ExpectationTest, ComparesQueriesOfOneLabelWithEachOther) {
	EXPECT_EQ(Mismatch("query I rowsort one\nVALUES (1), (2)\n"), "");
	EXPECT_EQ(Mismatch("query I rowsort one\nVALUES (2), (1)\n"), "");
	EXPECT_NE(Mismatch("query I rowsort one\nVALUES (3)\n"), "");
	expectation_.ResetLabel("one");
	EXPECT_EQ(Mismatch("query I rowsort one\nVALUES (3)\n"), "");
}

TEST_F(ExpectationTest, ReadsExpectedRowsFromAFile) {
	std::ofstream(folder_.Path() + "/answer.csv") << "a|b\n1|x\n2|\n";
	EXPECT_EQ(Mismatch("query IT\nVALUES (1, 'x'), (2, NULL)\n----\n<FILE>:__TEST_DIR__/answer.csv\n"), "");
	EXPECT_NE(Mismatch("query IT\nVALUES (1, 'x'), (2, 'y')\n----\n<FILE>:__TEST_DIR__/answer.csv\n"), "");
}

TEST_F(ExpectationTest, IgnoresTheOrderWhereItIsTold) {
	auto query = SqlFile::Parse("a.test", "query II\nx\n----\n1\t2\n3\t4\n").records.at(0);
	EXPECT_FALSE(expectation_.FindMismatchInAnyOrder(query, Answer("VALUES (3, 4), (1, 2)")));
	EXPECT_TRUE(expectation_.FindMismatchInAnyOrder(query, Answer("VALUES (3, 4), (2, 1)")));
}

TEST_F(ExpectationTest, FindsTheExpectedTextInAnError) {
	auto matches = [&](const std::string &expected, const std::string &message) {
		auto record = SqlFile::Parse("a.test", "statement error\nx\n" + expected).records.at(0);
		return expectation_.ErrorMatches(record, message);
	};
	EXPECT_TRUE(matches("", "Binder Error: x"));
	EXPECT_TRUE(matches("----\nder Error\n", "Binder Error: x"));
	EXPECT_FALSE(matches("----\nParser Error\n", "Binder Error: x"));
	EXPECT_TRUE(matches("----\n<REGEX>:.*Error.*x\n", "Binder Error:\nx"));
	EXPECT_FALSE(matches("----\n<!REGEX>:.*Error.*\n", "Binder Error:\nx"));
}

} // namespace
} // namespace skein::test
