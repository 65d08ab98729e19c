#include "document.hpp"

#include <algorithm>
#include <sstream>

namespace skein::test {
namespace {

const std::string INTRODUCTION = R"(# What is distributed, and how

Every row is a query that ran in plain DuckDB and with `skein_mode = 'force'` over three workers, with equal answers. What
stands behind it is read off its plan, in the order in which the rows flow: what the tasks of a stage do, how their rows
go to the next stage, what that does. Reading a part of the files in each task comes first and is not mentioned;
projections are left out. [GLOSSARY.md](../GLOSSARY.md) explains the words.

| words | meaning |
|---|---|
| `partial`, `final` | each task computes its part of every group; the parts are combined |
| `left (...)`, `right (...)` | what happens to the two inputs of the operator that follows |
| `read by every task` | small files, which every task reads as a whole |
| `rows of the session` | what only the session can read |
| `shared Stage 1` | a stage that runs once and is read several times |
| `in the head`, `in one task` | where an operator runs that does not run in several tasks |
| **one task** | the operator in question runs in one place; what is below it may be distributed |
| **local** | nothing of the query leaves the session |

The reason, where the planner gives one, stands at the end. What stays in one task has its rows brought there: scans,
filters, joins and aggregates below it are distributed all the same. It does so because

- all values of a group have to meet: exact quantiles, mode, entropy, histograms, ordered lists. With GROUP BY each task
  has whole groups; without it there is one group, and one task;
- the order of all rows decides: windows over all rows, positional joins, LIMIT with an OFFSET, samples with a seed. Spark
  and Trino bring these rows to one place, too;
- the next step needs all of the last one: recursion. Files that a step reads are divided, and read once;
- only the session has it: its tables, its settings' functions, random numbers and sequences, DuckDB's own catalog. Its
  rows are dealt to the tasks of the operators above.

The file is generated: [CONTRIBUTING.md](../CONTRIBUTING.md) says how. A test compares it with what the planner does, and
fails if DuckDB has an operator, a type of join, an aggregate or a window function that no row is about.
)";

using Place = CoverageCell::Place;

struct Counts {
	size_t all = 0;
	size_t distributed = 0;
	size_t one_task = 0;

	void Add(const CoverageTable &table) {
		for (auto &row : table.rows) {
			for (auto &cell : row.cells) {
				all++;
				distributed += cell.place == Place::DISTRIBUTED ? 1 : 0;
				one_task += cell.place == Place::ONE_TASK ? 1 : 0;
			}
		}
	}
	std::string Text() const {
		return std::to_string(distributed) + " of " + std::to_string(all) + " distributed, " +
			   std::to_string(one_task) + " in one task, " + std::to_string(all - distributed - one_task) + " local.";
	}
};

std::string Escape(const std::string &text) {
	std::string result;
	for (auto c : text) {
		result += c == '|' ? "\\|" : std::string(1, c);
	}
	return result;
}

std::string CellText(const CoverageCell &cell) {
	auto reason = cell.reason.empty() ? "" : "; " + cell.reason;
	switch (cell.place) {
	case Place::LOCAL:
		return "**local**: " + cell.reason;
	case Place::ONE_TASK:
		return "**one task**: " + cell.how + reason;
	default:
		return cell.how + reason;
	}
}

void WriteTable(std::ostream &out, const CoverageTable &table) {
	auto &section = table.section;
	Counts counts;
	counts.Add(table);
	out << "\n## " << section.title << "\n\n";
	out << section.text << (section.text.empty() ? "" : "\n\n") << counts.Text() << "\n\n";
	std::string head = "| " + section.subject + " |";
	std::string line = "|---|";
	if (section.shows_joins) {
		head += " join in DuckDB's plan |";
		line += "---|";
	}
	for (auto &column : section.columns) {
		head += " " + column.title + " |";
		line += "---|";
	}
	out << head << "\n" << line << "\n";
	for (auto &row : table.rows) {
		out << "| " << Escape(row.title) << " |";
		if (section.shows_joins) {
			out << " " << row.joins << " |";
		}
		for (auto &cell : row.cells) {
			out << " " << Escape(CellText(cell)) << " |";
		}
		out << "\n";
	}
	if (!section.without.empty()) {
		out << "\nNo case:\n\n";
	}
	for (auto &[name, reason] : section.without) {
		out << "- " << name << ": " << reason << "\n";
	}
}

std::vector<std::string> Lines(const std::string &text) {
	std::istringstream stream(text);
	std::vector<std::string> result;
	for (std::string line; std::getline(stream, line);) {
		result.push_back(line);
	}
	return result;
}

} // namespace

std::string WriteDocument(const std::vector<CoverageTable> &tables) {
	std::ostringstream out;
	Counts counts;
	for (auto &table : tables) {
		counts.Add(table);
	}
	out << INTRODUCTION << "\nAll in all: " << counts.Text() << "\n";
	for (auto &table : tables) {
		WriteTable(out, table);
	}
	return out.str();
}

std::string LineDifference(const std::string &before, const std::string &after) {
	auto left = Lines(before);
	auto right = Lines(after);
	// common[i][j]: the length of the longest common subsequence of what follows line i and line j.
	std::vector<std::vector<size_t>> common(left.size() + 1, std::vector<size_t>(right.size() + 1, 0));
	for (auto i = left.size(); i-- > 0;) {
		for (auto j = right.size(); j-- > 0;) {
			common[i][j] =
				left[i] == right[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
		}
	}
	std::string result;
	size_t i = 0;
	size_t j = 0;
	while (i < left.size() || j < right.size()) {
		if (i < left.size() && j < right.size() && left[i] == right[j]) {
			i++;
			j++;
		} else if (j == right.size() || (i < left.size() && common[i + 1][j] >= common[i][j + 1])) {
			result += "-" + left[i++] + "\n";
		} else {
			result += "+" + right[j++] + "\n";
		}
	}
	return result;
}

} // namespace skein::test
