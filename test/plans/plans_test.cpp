//! Compares the plans that EXPLAIN shows with those in the files of a folder.
//!
//!     plans_test --extensions DIR [--tables tpch|tpcds] [--rewrite] FOLDER
//!
//! A file `q01.plan` holds a query, a line `----`, and the plan, in which sizes and ids are masked. Lines of SET
//! before the query hold for it alone. Tables are those of TPC-H at scale 0.1, or of TPC-DS at scale 0.01, in
//! Parquet files.

#include "test/plans/tpch_tables.hpp"
#include "test/support/oracle.hpp"
#include "test/support/sql_test_database.hpp"
#include "test/support/temporary_folder.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

namespace skein::test {
namespace {

namespace fs = std::filesystem;

const std::string SEPARATOR = "\n----\n";

//! What differs from machine to machine becomes a word.
std::string Mask(std::string text, const std::string &folder) {
	for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
		text.replace(at, folder.size(), "FOLDER");
	}
	text = std::regex_replace(text, std::regex("bytes=[0-9]+"), "bytes=SIZE");
	text = std::regex_replace(text, std::regex("[0-9.]+ ([KMGT]i?B|bytes?)\\b(?!=)"), "SIZE");
	text = std::regex_replace(text, std::regex("#\\[[0-9]+\\.[0-9]+\\]"), "#[COLUMN]");
	while (!text.empty() && text.back() == '\n') {
		text.pop_back();
	}
	return text + "\n";
}

std::string Explain(duckdb::Connection &connection, const std::string &sql, const std::string &folder) {
	auto outcome = RunSql(connection, "EXPLAIN " + sql);
	if (!outcome.answer) {
		return outcome.ErrorLine() + "\n";
	}
	std::string text;
	for (auto &row : outcome.answer->rows) {
		text += row.back().ToString() + "\n";
	}
	return Mask(text, folder);
}

std::string ReadFile(const fs::path &path) {
	std::ifstream stream(path);
	std::ostringstream text;
	text << stream.rdbuf();
	return text.str();
}

//! The first line in which two texts differ.
std::string FirstDifference(const std::string &expected, const std::string &actual) {
	std::istringstream expected_lines(expected);
	std::istringstream actual_lines(actual);
	std::string left;
	std::string right;
	for (size_t number = 1;; number++) {
		auto has_left = static_cast<bool>(std::getline(expected_lines, left));
		auto has_right = static_cast<bool>(std::getline(actual_lines, right));
		if (!has_left && !has_right) {
			return "";
		}
		if (has_left != has_right || left != right) {
			return "line " + std::to_string(number) + " of the plan is\n  " + (has_right ? right : "(missing)") +
				   "\ninstead of\n  " + (has_left ? left : "(missing)");
		}
	}
}

//! Makes the settings of the lines `SET name = value;` before a query and takes them off. Returns what undoes them.
std::string MakeSettings(duckdb::Connection &connection, std::string &sql) {
	const std::string set = "SET ";
	std::string undo;
	while (sql.rfind(set, 0) == 0) {
		auto end = sql.find(";\n");
		auto setting = sql.substr(0, end);
		auto name = setting.substr(set.size(), setting.find(' ', set.size()) - set.size());
		auto before = RunSql(connection, "SELECT current_setting('" + name + "')");
		undo += set + name + " = '" + before.answer->rows.at(0).at(0).ToString() + "';";
		RunOrThrow(connection, setting);
		sql = sql.substr(end + 2);
	}
	return undo;
}

//! The query that DuckDB's extension runs for `PRAGMA tpcds(N)`; other text as it is.
std::string Named(duckdb::Connection &connection, const std::string &sql) {
	std::smatch match;
	if (!std::regex_match(sql, match, std::regex("PRAGMA tpcds\\(([0-9]+)\\)"))) {
		return sql;
	}
	auto queries = RunSql(connection, "SELECT query FROM tpcds_queries() WHERE query_nr = " + match[1].str());
	return queries.answer->rows.at(0).at(0).ToString();
}

int Compare(const std::string &extensions, const std::string &tables, const fs::path &plans, bool rewrite) {
	TemporaryFolder folder;
	SqlTestDatabase database;
	if (tables == "tpcds") {
		MakeTpcdsTables(*database.connection, "0.01", extensions, folder.Path());
	} else {
		MakeTpchTables(*database.connection, "0.1", extensions, folder.Path());
	}
	for (std::string setting : {"skein_mode = 'force'", "skein_workers = 4", "threads = 2"}) {
		RunOrThrow(*database.connection, "SET " + setting);
	}
	std::vector<fs::path> files;
	for (auto &entry : fs::directory_iterator(plans)) {
		if (entry.path().extension() == ".plan") {
			files.push_back(entry.path());
		}
	}
	std::sort(files.begin(), files.end());
	size_t failures = 0;
	for (auto &file : files) {
		auto text = ReadFile(file);
		auto separator = text.find(SEPARATOR);
		auto sql = text.substr(0, separator);
		auto query = sql;
		auto undo = MakeSettings(*database.connection, query);
		auto plan = Explain(*database.connection, Named(*database.connection, query), folder.Path());
		if (!undo.empty()) {
			RunOrThrow(*database.connection, undo);
		}
		if (rewrite) {
			std::ofstream(file) << sql << SEPARATOR << plan;
			continue;
		}
		auto expected = separator == std::string::npos ? "" : text.substr(separator + SEPARATOR.size());
		if (expected != plan) {
			failures++;
			std::cerr << file.string() << ": " << FirstDifference(expected, plan) << "\n\n";
		}
	}
	std::cout << files.size() << " plans, " << failures << " differ\n";
	return files.empty() || failures > 0 ? 1 : 0;
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	std::string extensions;
	std::string tables = "tpch";
	std::string plans;
	bool rewrite = false;
	CLI::App app("Compares the plans that EXPLAIN shows with files");
	app.add_option("--extensions", extensions, "Where DuckDB's extensions lie")->required();
	app.add_option("--tables", tables, "Whose tables the queries are about")
		->check(CLI::IsMember(std::vector<std::string>{"tpch", "tpcds"}));
	app.add_flag("--rewrite", rewrite, "Write the plans instead");
	app.add_option("folder", plans, "Where the plans lie")->required();
	CLI11_PARSE(app, argc, argv);
	try {
		return skein::test::Compare(extensions, tables, plans, rewrite);
	} catch (const std::exception &error) {
		std::cerr << duckdb::ErrorData(error).Message() << '\n';
		return 1;
	}
}
