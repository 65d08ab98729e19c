#include "case_file.hpp"

#include "test/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace skein::test {
namespace {

class CaseFile : public testing::Test {
protected:
	std::vector<CoverageSection> Read(const std::string &text) {
		auto path = folder_.Path() + "/some.cases";
		std::ofstream(path) << text;
		return ReadCases(path);
	}

	TemporaryFolder folder_;
};

TEST_F(CaseFile, HasSectionsWithColumnsAndCases) {
	auto sections = Read("section: Functions\nfocus: AGGREGATE WINDOW\n"
						 "column: grouped {a=1, b=x}: SELECT $case FROM t\ncolumn: plain: SELECT $case\n\n"
						 "- sum(v)\ncase: two lines\nbefore: BEGIN\nafter: FROM u\n\tSELECT\n\t1\n"
						 "without: median: why\n");
	ASSERT_EQ(sections.size(), 1u);
	auto &section = sections[0];
	EXPECT_EQ(section.focus, (std::vector<std::string>{"AGGREGATE", "WINDOW"}));
	ASSERT_EQ(section.columns.size(), 2u);
	EXPECT_EQ(section.columns[0].title, "grouped");
	EXPECT_EQ(section.columns[0].sql, "SELECT $case FROM t");
	EXPECT_EQ(section.columns[0].settings, (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "x"}}));
	ASSERT_EQ(section.cases.size(), 2u);
	EXPECT_EQ(section.cases[0].title, "`sum(v)`");
	EXPECT_EQ(section.cases[0].sql, "sum(v)");
	EXPECT_EQ(section.cases[1].place, "some.cases:7");
	EXPECT_EQ(section.cases[1].sql, "SELECT 1");
	EXPECT_EQ(section.cases[1].before, std::vector<std::string>{"BEGIN"});
	EXPECT_EQ(section.cases[1].after, "FROM u");
	EXPECT_EQ(section.without.at(0).first, "median");
}

TEST_F(CaseFile, RepeatsCasesForEachCombinationOfWords) {
	auto sections = Read("section: Joins\nfor: kind: LEFT | RIGHT\nfor: op: < | =\n"
						 "case: ${kind} ${op}\n\tA ${kind} JOIN B ON a ${op} b\nend\n- one\n");
	ASSERT_EQ(sections.at(0).cases.size(), 5u);
	EXPECT_EQ(sections[0].cases[0].title, "LEFT <");
	EXPECT_EQ(sections[0].cases[3].sql, "A RIGHT JOIN B ON a = b");
	EXPECT_EQ(sections[0].cases[4].title, "`one`");
}

TEST_F(CaseFile, RefusesWhatItDoesNotKnow) {
	EXPECT_THROW(Read("case: before any section\n"), std::runtime_error);
	EXPECT_THROW(Read("section: A\nunknown: B\n"), std::runtime_error);
	EXPECT_THROW(Read("section: A\n\tSELECT 1\n"), std::runtime_error);
	EXPECT_THROW(ReadCases(folder_.Path() + "/missing.cases"), std::runtime_error);
}

} // namespace
} // namespace skein::test
