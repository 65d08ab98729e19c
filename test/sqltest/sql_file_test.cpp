#include "sql_file.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace skein::test {
namespace {

using Kind = SqlRecord::Kind;
using Strings = std::vector<std::string>;

std::vector<SqlRecord> Parse(const std::string &text) {
	return SqlFile::Parse("a.test", text).records;
}

SqlRecord ParseOne(const std::string &text) {
	auto records = Parse(text);
	EXPECT_EQ(records.size(), 1u);
	return records.at(0);
}

std::string ErrorOf(const std::string &text) {
	try {
		Parse(text);
	} catch (const std::runtime_error &error) {
		return error.what();
	}
	return "no error";
}

TEST(SqlFile, ReadsAStatementUpToAnEmptyLineOrAComment) {
	auto records = Parse("# name: a\n\nstatement ok\nSELECT 1,\n  2\n\nstatement ok con1\nSELECT 3\n# end\n");
	ASSERT_EQ(records.size(), 2u);
	EXPECT_EQ(records[0].kind, Kind::STATEMENT);
	EXPECT_EQ(records[0].line, 3u);
	EXPECT_EQ(records[0].sql, "SELECT 1,\n  2");
	EXPECT_EQ(records[0].expects, SqlRecord::Expects::SUCCESS);
	EXPECT_EQ(records[1].connection, "con1");
	EXPECT_EQ(records[1].sql, "SELECT 3");
}

TEST(SqlFile, ReadsAStatementThatFails) {
	auto record = ParseOne("statement error\nSELECT x\n----\n<REGEX>:.*not\nfound.*\n\n");
	EXPECT_EQ(record.expects, SqlRecord::Expects::FAILURE);
	EXPECT_EQ(record.ExpectedText(), "<REGEX>:.*not\nfound.*");
	EXPECT_EQ(ParseOne("statement error\nSELECT x\n").has_expected, false);
	EXPECT_EQ(ParseOne("statement maybe\nSELECT x\n----\nx\n").expects, SqlRecord::Expects::EITHER);
}

TEST(SqlFile, ReadsAQuery) {
	auto record = ParseOne("query TI rowsort label1\nSELECT 'a', 1\n----\na\t1\n# no comment\n\n");
	EXPECT_EQ(record.kind, Kind::QUERY);
	EXPECT_EQ(record.columns, 2u);
	EXPECT_EQ(record.sort, SqlRecord::Sort::ROWS);
	EXPECT_EQ(record.label, "label1");
	EXPECT_TRUE(record.has_expected);
	EXPECT_EQ(record.expected, (Strings{"a\t1", "# no comment"}));
}

TEST(SqlFile, TellsSortsOfQueriesFromConnections) {
	EXPECT_EQ(ParseOne("query I valuesort\nSELECT 1\n").sort, SqlRecord::Sort::VALUES);
	EXPECT_EQ(ParseOne("query I nosort\nSELECT 1\n").connection, "");
	EXPECT_EQ(ParseOne("query I con2\nSELECT 1\n").connection, "con2");
	EXPECT_EQ(ParseOne("query *\nSELECT 1\n").columns, 0u);
	EXPECT_FALSE(ParseOne("query I\nSELECT 1\n").has_expected);
	EXPECT_TRUE(ParseOne("query I\nSELECT 1 WHERE false\n----\n").has_expected);
}

TEST(SqlFile, NestsLoops) {
	auto loop = ParseOne("loop i 2 4\n\nforeach a,b 1,x 2,y\n\nstatement ok\nSELECT ${i}\n\nendloop\n\nendloop\n");
	EXPECT_EQ(loop.kind, Kind::LOOP);
	EXPECT_EQ(loop.variable, "i");
	EXPECT_EQ(loop.values, (Strings{"2", "3"}));
	EXPECT_FALSE(loop.concurrent);
	ASSERT_EQ(loop.body.size(), 1u);
	EXPECT_EQ(loop.body[0].variable, "a,b");
	EXPECT_EQ(loop.body[0].values, (Strings{"1,x", "2,y"}));
	EXPECT_EQ(loop.body[0].body.at(0).sql, "SELECT ${i}");
}

TEST(SqlFile, WritesOutCollectionsOfLoops) {
	EXPECT_EQ(ParseOne("foreach t <signed> !hugeint date\n\nendloop\n").values,
			  (Strings{"tinyint", "smallint", "integer", "bigint", "date"}));
	EXPECT_EQ(ParseOne("foreach t <numeric>\n\nendloop\n").values.size(), 12u);
	EXPECT_EQ(ParseOne("foreach t !a\n\nendloop\n").values, (Strings{"!a"}));
}

TEST(SqlFile, MarksLoopsWhoseRoundsRunAtTheSameTime) {
	EXPECT_TRUE(ParseOne("concurrentloop i 0 10\n\nendloop\n").concurrent);
	EXPECT_TRUE(ParseOne("concurrentforeach i a b\n\nendloop\n").concurrent);
}

TEST(SqlFile, ReadsConditions) {
	auto record = ParseOne("onlyif i>=2&&j<>x\nskipif k=3\nstatement ok\nSELECT 1\n");
	ASSERT_EQ(record.conditions.size(), 3u);
	EXPECT_EQ(record.conditions[0].variable, "i");
	EXPECT_EQ(record.conditions[0].comparison, LoopCondition::Comparison::GREATER_OR_EQUAL);
	EXPECT_EQ(record.conditions[0].value, "2");
	EXPECT_FALSE(record.conditions[0].skip_if);
	EXPECT_EQ(record.conditions[1].comparison, LoopCondition::Comparison::NOT_EQUAL);
	EXPECT_TRUE(record.conditions[2].skip_if);
}

TEST(SqlFile, LeavesOutRecordsForOtherSystems) {
	auto records = Parse("skipif duckdb\nquery I\nSELECT 1\n----\n1\n\nonlyif mysql\nstatement ok\nSELECT 2\n\n"
						 "onlyif duckdb\nstatement ok\nSELECT 3\n\nskipif mysql\nstatement ok\nSELECT 4\n");
	ASSERT_EQ(records.size(), 2u);
	EXPECT_EQ(records[0].sql, "SELECT 3");
	EXPECT_EQ(records[1].sql, "SELECT 4");
}

TEST(SqlFile, ReadsDirectives) {
	auto records = Parse("require parquet\n\nrequire vector_size 512\n\nrequire-env HOME\n\ntest-env A b\n\n"
						 "load __TEST_DIR__/a.db readonly v1.0.0\n\nload\n\nrestart\n\nreconnect\n\nsleep 1 second\n\n"
						 "unzip a.gz\n\nset seed 0.5\n\nset ignore_error_messages a b, c\n\nreset label x\n\n"
						 "hash-threshold 10\n\nmode output_hash\n\ntags slow\n\nset always_fail_error_messages x\n");
	std::vector<Kind> kinds;
	for (auto &record : records) {
		kinds.push_back(record.kind);
	}
	EXPECT_EQ(kinds,
			  (std::vector<Kind>{Kind::REQUIRE, Kind::REQUIRE, Kind::REQUIRE_ENV, Kind::TEST_ENV, Kind::LOAD,
								 Kind::LOAD, Kind::RESTART, Kind::RECONNECT, Kind::SLEEP, Kind::UNZIP, Kind::SET_SEED,
								 Kind::IGNORE_ERRORS, Kind::RESET_LABEL, Kind::HASH_THRESHOLD, Kind::MODE}));
	EXPECT_EQ(records[1].WordText(), "vector_size 512");
	EXPECT_EQ(records[10].WordText(), "0.5");
	EXPECT_EQ(records[11].WordText(), "a b, c");
	EXPECT_EQ(records[12].label, "x");
}

TEST(SqlFile, LeavesOutWhatIsSkippedAndWhatFollowsAHalt) {
	auto records = Parse("mode skip\n\nnonsense here\n\nmode unskip\n\nstatement ok\nSELECT 1\n\nhalt\n\nnonsense\n");
	ASSERT_EQ(records.size(), 1u);
	EXPECT_EQ(records[0].sql, "SELECT 1");
}

TEST(SqlFile, KeepsTheFixtureApart) {
	auto file = SqlFile::Parse("a.test", "fixture\n\nstatement ok\nSELECT 1\n\nendfixture\n\nstatement ok\nSELECT 2\n");
	ASSERT_EQ(file.fixture.size(), 1u);
	EXPECT_EQ(file.fixture[0].sql, "SELECT 1");
	ASSERT_EQ(file.records.size(), 1u);
	EXPECT_EQ(file.records[0].sql, "SELECT 2");
}

TEST(SqlFile, NamesFileAndLineOfWhatItDoesNotUnderstand) {
	const std::vector<std::pair<std::string, std::string>> CASES{
		{"\nnonsense\n", "a.test:2: unknown: nonsense"},
		{"statement fine\nSELECT 1\n", "a.test:1: expected statement ok|error|maybe [CONNECTION]"},
		{"statement ok\n\n", "a.test:1: there is no SQL here"},
		{"statement ok\nSELECT 1\n----\nx\n", "a.test:1: a statement that is to succeed has no message"},
		{"query\nSELECT 1\n",
		 "a.test:1: expected query TYPES [nosort|rowsort|valuesort|CONNECTION] [LABEL], types are T, I, R"},
		{"query X\nSELECT 1\n",
		 "a.test:1: expected query TYPES [nosort|rowsort|valuesort|CONNECTION] [LABEL], types are T, I, R"},
		{"\nloop i 0 3\n\nstatement ok\nSELECT 1\n", "a.test:2: this loop has no endloop"},
		{"loop i 0 x\n\nendloop\n", "a.test:1: expected loop VARIABLE START END"},
		{"foreach i\n\nendloop\n", "a.test:1: expected foreach VARIABLE VALUE..."},
		{"foreach a,b 1,2 3\n\nendloop\n", "a.test:1: '3' does not have 2 values, as a,b"},
		{"endloop\n", "a.test:1: endloop without a loop"},
		{"continue\n", "a.test:1: continue outside of a loop"},
		{"require\n", "a.test:1: expected require NAME [ARGUMENT...]"},
		{"require icu\nstatement ok\nSELECT 1\n", "a.test:2: an empty line has to follow require"},
		{"set colour red\n", "a.test:1: expected set seed NUMBER, set ignore_error_messages TEXT, ... or set "
							 "always_fail_error_messages"},
		{"reset x\n", "a.test:1: expected reset label NAME"},
		{"hash-threshold x\n", "a.test:1: 'x' is not a number"},
		{"mode unskip\n", "a.test:1: mode unskip without mode skip"},
		{"onlyif i=\n\n", "a.test:2: onlyif and skipif stand before a record"},
		{"onlyif i>x\nstatement ok\nSELECT 1\n",
		 "a.test:1: malformed condition 'i>x': expected VARIABLE=VALUE, or <, <=, >, >=, <>"},
		{"fixture\n\nstatement ok\nSELECT 1\n", "a.test:1: this fixture has no endfixture"},
		{"endfixture\n", "a.test:1: endfixture without fixture"},
	};
	for (auto &[text, message] : CASES) {
		EXPECT_EQ(ErrorOf(text), message) << text;
	}
}

TEST(SqlFile, NamesAFileThatCannotBeRead) {
	EXPECT_THROW(SqlFile::Read("no/such/file.test"), std::runtime_error);
}

} // namespace
} // namespace skein::test
