//! Runs the cases of coverage, and compares the document with what became of them.
//!
//!     coverage_test --document docs/coverage.md --tables tables.sql [--rewrite] [--trace] FILE.cases...
//!
//! Fails if an answer differs from plain DuckDB's, if the engine knows something that no case is about, and if the
//! document says something else.

#include "document.hpp"

#include "test/support/temporary_folder.hpp"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <sstream>

namespace skein::test {
namespace {

std::string ReadFile(const std::string &path) {
	std::ifstream stream(path);
	std::ostringstream text;
	text << stream.rdbuf();
	return text.str();
}

std::string Join(const std::set<std::string> &words) {
	std::string result;
	for (auto &word : words) {
		result += (result.empty() ? "" : ", ") + word;
	}
	return result;
}

//! What cases are about, and what is said to have none.
struct Names {
	std::set<std::string> cases;
	std::set<std::string> without;

	void Add(const CoverageSection &section) {
		for (auto &one : section.cases) {
			// `median(v)` is about median.
			auto parenthesis = one.title.find('(');
			if (one.title[0] == '`' && parenthesis != std::string::npos) {
				cases.insert(one.title.substr(1, parenthesis - 1));
			}
		}
		for (auto &entry : section.without) {
			without.insert(entry.first);
		}
	}
};

//! Counts what is known but neither seen nor said to have no case, and what is said to have none but was seen.
size_t CheckComplete(const std::string &kind, const std::set<std::string> &known, const std::set<std::string> &seen,
					 const std::set<std::string> &without) {
	size_t failures = 0;
	for (auto &name : known) {
		if (!seen.count(name) && !without.count(name)) {
			std::cerr << "no case has the " << kind << " " << name << "\n";
			failures++;
		}
		if (seen.count(name) && without.count(name)) {
			std::cerr << "said to have no case, but there is one: the " << kind << " " << name << "\n";
			failures++;
		}
	}
	return failures;
}

//! Aggregates and window functions as the engine lists them; not ours, which only plans use.
std::set<std::string> FunctionNames(duckdb::Connection &connection) {
	auto outcome =
		RunSql(connection, "SELECT DISTINCT function_name FROM duckdb_functions()"
						   " WHERE function_type = 'aggregate' AND NOT starts_with(function_name, 'skein_')");
	std::set<std::string> result;
	for (auto &row : outcome.answer.value().rows) {
		result.insert(row[0].ToString());
	}
	return result;
}

class Coverage {
public:
	Coverage(const std::string &tables, bool trace) : runner_(folder_.Path(), trace) {
		runner_.MakeTables(tables);
	}

	void Run(const std::vector<std::string> &files) {
		for (auto &file : files) {
			for (auto &section : ReadCases(file)) {
				names_.Add(section);
				RunSection(section);
			}
		}
		CheckCompleteness();
	}

	std::string Document() const {
		return WriteDocument(tables_);
	}
	size_t Failures() const {
		return failures_ + runner_.Failures();
	}

private:
	void RunSection(const CoverageSection &section) {
		CoverageTable table;
		table.section = section;
		for (auto &one : section.cases) {
			CoverageRow row;
			row.title = one.title;
			row.cells = runner_.Run(section, one);
			row.joins = Join(runner_.SeenLast().joins);
			CheckOperator(one);
			table.rows.push_back(std::move(row));
		}
		tables_.push_back(std::move(table));
	}

	//! A case that is called after an operator has it in its plan.
	void CheckOperator(const CoverageCase &one) {
		auto name = one.title.substr(0, one.title.find(','));
		if (name.rfind("LOGICAL_", 0) == 0 && !runner_.SeenLast().operators.count(name)) {
			std::cerr << one.place << ": the plan has no " << name << ", but " << Join(runner_.SeenLast().operators)
					  << "\n";
			failures_++;
		}
	}

	void CheckCompleteness() {
		auto known = Inventory::OfEngine();
		auto &seen = runner_.Seen();
		failures_ += CheckComplete("operator", known.operators, seen.operators, names_.without);
		failures_ += CheckComplete("join type", known.join_types, seen.join_types, names_.without);
		failures_ += CheckComplete("window expression", known.windows, seen.windows, names_.without);
		failures_ += CheckComplete("function", FunctionNames(runner_.Connection()), names_.cases, names_.without);
	}

	TemporaryFolder folder_;
	CaseRunner runner_;
	std::vector<CoverageTable> tables_;
	Names names_;
	size_t failures_ = 0;
};

struct Options {
	std::string tables;
	std::vector<std::string> files;
	std::string document;
	bool rewrite = false;
	bool trace = false;
};

int Main(const Options &options) {
	Coverage coverage(options.tables, options.trace);
	coverage.Run(options.files);
	auto text = coverage.Document();
	auto failures = coverage.Failures();
	if (options.rewrite) {
		std::ofstream(options.document) << text;
	} else if (auto difference = LineDifference(ReadFile(options.document), text); !difference.empty()) {
		std::cerr << options.document << " (-) is not what the planner does (+); coverage_test --rewrite renews it:\n"
				  << difference;
		failures++;
	}
	std::cout << failures << " failures\n";
	return failures > 0 ? 1 : 0;
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	skein::test::Options options;
	CLI::App app("Compares docs/coverage.md with what the planner does");
	app.add_option("--document", options.document, "The document")->required();
	app.add_option("--tables", options.tables, "The SQL that makes the tables")->required();
	app.add_flag("--rewrite", options.rewrite, "Write the document instead");
	app.add_flag("--trace", options.trace, "Say on stderr what is run, and with which plan");
	app.add_option("files", options.files, "The cases, in the order of the document")->required();
	CLI11_PARSE(app, argc, argv);
	try {
		return skein::test::Main(options);
	} catch (const std::exception &error) {
		std::cerr << duckdb::ErrorData(error).Message() << '\n';
		return 1;
	}
}
