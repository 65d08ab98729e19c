#include "suite.hpp"

#include "exit_code.hpp"
#include "session.hpp"
#include "sql_input.hpp"
#include "table_files.hpp"
#include "tpc_suite.hpp"

#include "duckdb/parser/parser.hpp"

#include <algorithm>
#include <filesystem>

namespace skein::cli {
namespace {

namespace fs = std::filesystem;

//! Throws when a file holds anything but one statement. What does not parse is left to fail when it runs.
void CheckOneStatement(const std::string &file, const std::string &sql) {
	duckdb::Parser parser;
	try {
		parser.ParseQuery(sql);
	} catch (const duckdb::Exception &) {
		return;
	}
	if (parser.statements.size() != 1) {
		throw CommandError(ExitCode::WRONG_USAGE, "'" + file + "' holds " + std::to_string(parser.statements.size()) +
													  " statements: expected one query");
	}
}

//! Every *.sql of a folder, in the order of their names; the tables are the folders of `data`.
Suite OpenFolderSuite(const SuiteOptions &options) {
	if (!fs::is_directory(options.suite)) {
		throw CommandError(ExitCode::WRONG_USAGE,
						   "no suite '" + options.suite + "': expected tpch, tpcds or a folder with SQL files");
	}
	Suite suite;
	suite.name = fs::canonical(options.suite).filename();
	std::vector<fs::path> files;
	for (auto &entry : fs::directory_iterator(options.suite)) {
		if (entry.path().extension() == ".sql") {
			files.push_back(entry.path());
		}
	}
	if (files.empty()) {
		throw CommandError(ExitCode::WRONG_USAGE, "no SQL files in '" + options.suite + "'");
	}
	std::sort(files.begin(), files.end());
	for (auto &file : files) {
		auto sql = ReadFile(file);
		CheckOneStatement(file, sql);
		suite.queries.push_back({suite.queries.size() + 1, file.stem(), sql});
	}
	if (!options.data.empty()) {
		suite.data = options.data;
		suite.tables = FindTables(options.data);
	}
	return suite;
}

//! Keeps the queries that were asked for.
void SelectQueries(Suite &suite, const std::vector<std::string> &wanted) {
	if (wanted.empty()) {
		return;
	}
	std::vector<SuiteQuery> selected;
	for (auto &text : wanted) {
		auto query = std::find_if(suite.queries.begin(), suite.queries.end(), [&](const SuiteQuery &candidate) {
			return candidate.name == text || std::to_string(candidate.number) == text;
		});
		if (query == suite.queries.end()) {
			throw CommandError(ExitCode::WRONG_USAGE, "no query '" + text + "' in " + suite.name);
		}
		selected.push_back(*query);
	}
	suite.queries = std::move(selected);
}

} // namespace

Suite OpenSuite(const SuiteOptions &options, Interrupt &interrupt) {
	auto is_tpc = options.suite == "tpch" || options.suite == "tpcds";
	auto suite = is_tpc ? OpenTpcSuite(options, interrupt) : OpenFolderSuite(options);
	SelectQueries(suite, options.queries);
	return suite;
}

void CreateViews(const Suite &suite, duckdb::Connection &connection) {
	for (auto &table : suite.tables) {
		// Worker processes may run in other folders.
		auto files = fs::absolute(fs::path(suite.data) / table / "*.parquet").lexically_normal().string();
		Query(connection, duckdb::StringUtil::Format("CREATE VIEW %s AS SELECT * FROM read_parquet(%s)",
													 duckdb::SQLIdentifier(table), duckdb::SQLString(files)));
	}
}

} // namespace skein::cli
