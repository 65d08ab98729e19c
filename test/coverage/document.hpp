#pragma once

#include "case_runner.hpp"

#include <string>
#include <vector>

namespace skein::test {

//! A case with what became of it.
struct CoverageRow {
	std::string title;
	//! The joins in DuckDB's plan, if the section shows them.
	std::string joins;
	std::vector<CoverageCell> cells;
};

//! A section with its rows.
struct CoverageTable {
	CoverageSection section;
	std::vector<CoverageRow> rows;
};

//! The tables as Markdown, with counts at the head.
std::string WriteDocument(const std::vector<CoverageTable> &tables);

//! The lines in which two texts differ, with `-` and `+` before them; empty if there are none.
std::string LineDifference(const std::string &before, const std::string &after);

} // namespace skein::test
