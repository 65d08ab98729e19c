#include "document.hpp"

#include <gtest/gtest.h>

namespace skein::test {
namespace {

CoverageCell Cell(CoverageCell::Place place, const char *how, const char *reason) {
	CoverageCell cell;
	cell.place = place;
	cell.how = how;
	cell.reason = reason;
	return cell;
}

TEST(Document, CountsAndShowsWhereCasesRan) {
	CoverageTable table;
	table.section.title = "Joins";
	table.section.subject = "join";
	table.section.columns = {{"auto", "$case", {}}, {"force", "$case", {}}};
	table.rows.push_back({"a | b",
						  "",
						  {Cell(CoverageCell::Place::LOCAL, "", "too small"),
						   Cell(CoverageCell::Place::ONE_TASK, "WINDOW in the head", "why")}});
	table.rows.push_back(
		{"c",
		 "",
		 {Cell(CoverageCell::Place::DISTRIBUTED, "FILTER", ""), Cell(CoverageCell::Place::DISTRIBUTED, "", "why")}});
	auto text = WriteDocument({table});
	EXPECT_NE(text.find("All in all: 2 of 4 distributed, 1 in one task, 1 local."), std::string::npos);
	EXPECT_NE(text.find("\n## Joins\n\n2 of 4 distributed, 1 in one task, 1 local.\n\n"
						"| join | auto | force |\n|---|---|---|\n"
						"| a \\| b | **local**: too small | **one task**: WINDOW in the head; why |\n"),
			  std::string::npos);
	EXPECT_NE(text.find("| c | FILTER |"), std::string::npos);
}

TEST(Document, FindsTheLinesThatDiffer) {
	EXPECT_EQ(LineDifference("a\nb\nc\n", "a\nb\nc\n"), "");
	EXPECT_EQ(LineDifference("a\nb\nc\n", "a\nx\nc\nd\n"), "-b\n+x\n+d\n");
	EXPECT_EQ(LineDifference("", "a\n"), "+a\n");
}

} // namespace
} // namespace skein::test
