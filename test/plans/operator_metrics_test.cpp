//! Compares what EXPLAIN ANALYZE says of the operators of distributed queries with what DuckDB says of its own.
//!
//!     operator_metrics_test --extensions DIR FOLDER
//!
//! The queries are those of the files q01.plan, ... of a folder. For each of them and several numbers of workers:
//! - every table is scanned as often, and the rows that each scan returned, of all tasks together, are those that
//!   DuckDB's scan returned; of a leaf that every task reads, the rows of the task that got most;
//! - a scan never returned more rows than it read, nor read more than its tasks were dealt;
//! - the rows of inner joins are the same; of a join of nothing but such leaves, those of the task that got most;
//! - the head returned as many rows as the query has.
//! Filters that one join hands to the scans of another are switched off, as their effect depends on timing. So does
//! what is read for a join of which one side turns out to be empty: of a query with a scan without rows only the last
//! two are compared.

#include "test/plans/tpch_tables.hpp"
#include "test/support/oracle.hpp"
#include "test/support/sql_test_database.hpp"
#include "test/support/temporary_folder.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

//! What is compared of a query.
struct QueryNumbers {
	//! By table, the rows of its scans, in ascending order.
	std::map<std::string, std::vector<uint64_t>> scans;
	std::vector<uint64_t> inner_joins;
	uint64_t result = 0;

	//! Some scan returned nothing.
	bool has_empty_scan = false;

	void Sort() {
		for (auto &entry : scans) {
			std::sort(entry.second.begin(), entry.second.end());
			has_empty_scan = has_empty_scan || entry.second.front() == 0;
		}
		std::sort(inner_joins.begin(), inner_joins.end());
	}
	std::string ToString() const {
		std::ostringstream text;
		for (auto &[table, rows] : scans) {
			if (!has_empty_scan) {
				text << table << " " << Json(rows) << ", ";
			}
		}
		text << "inner joins " << Json(inner_joins) << ", result " << result;
		return text.str();
	}
};

//! The table whose files a text names after `mark`: their folder.
std::string TableIn(const std::string &text, const std::string &mark) {
	auto start = text.find(mark);
	if (start == std::string::npos) {
		throw std::runtime_error("no file of the test is named in " + text);
	}
	start += mark.size();
	return text.substr(start, text.find('/', start) - start);
}

Json ExplainAnalyze(duckdb::Connection &connection, const std::string &sql) {
	auto outcome = RunSql(connection, "EXPLAIN (ANALYZE, FORMAT json) " + sql);
	if (!outcome.answer) {
		throw std::runtime_error(outcome.ErrorLine());
	}
	return Json::parse(outcome.answer->rows[0].back().ToString());
}

//! Of DuckDB's profile.
void AddProfile(const Json &op, const std::string &folder, QueryNumbers &numbers) {
	auto &info = op["extra_info"];
	uint64_t rows = op["operator_cardinality"];
	if (op["operator_type"] == "TABLE_SCAN") {
		numbers.scans[TableIn(info["Filename(s)"], folder + "/")].push_back(rows);
	} else if (info.contains("Join Type") && info["Join Type"] == "INNER") {
		numbers.inner_joins.push_back(rows);
	}
	for (auto &child : op["children"]) {
		AddProfile(child, folder, numbers);
	}
}

QueryNumbers RunAlone(duckdb::Connection &connection, const std::string &sql, const std::string &folder) {
	RunOrThrow(connection, "SET skein_mode = 'off'");
	auto outcome = RunSql(connection, sql);
	if (!outcome.answer) {
		throw std::runtime_error(outcome.ErrorLine());
	}
	auto profile = ExplainAnalyze(connection, sql);
	// Below the whole and EXPLAIN ANALYZE itself.
	auto &root = profile.at("head")["children"][0]["children"][0];
	QueryNumbers numbers;
	AddProfile(root, folder, numbers);
	numbers.result = outcome.answer->rows.size();
	numbers.Sort();
	return numbers;
}

uint64_t Number(const Json &value) {
	return value.get<uint64_t>();
}

//! Throws if the numbers of a leaf contradict each other; returns its rows.
uint64_t CheckLeaf(const Json &leaf) {
	uint64_t rows = 0;
	uint64_t most = 0;
	for (auto &task : leaf["tasks"]) {
		auto &variant = leaf["variants"][0];
		// One that was dealt nothing reads nothing.
		auto rows_read = task.value("rows_read", uint64_t(0));
		if (Number(task["rows"]) > rows_read || (leaf["replicated"] && rows_read > Number(variant["rows"]))) {
			throw std::runtime_error("more rows than there are: " + leaf.dump());
		}
		rows += Number(task["rows"]);
		most = std::max(most, Number(task["rows"]));
	}
	uint64_t dealt = 0;
	for (auto &variant : leaf["variants"]) {
		dealt += Number(variant["rows"]);
	}
	auto rows_read = leaf.value("rows_read", uint64_t(0));
	if ((!leaf["replicated"] && rows_read > dealt) || Number(leaf["rows"]) != rows) {
		throw std::runtime_error("the sums are wrong: " + leaf.dump());
	}
	return leaf["replicated"] ? most : rows;
}

//! Whether every task computes the same.
bool IsReplicated(const Json &op) {
	if (op["kind"] == "leaf") {
		return op["replicated"];
	}
	auto &children = op["children"];
	return !children.empty() && std::all_of(children.begin(), children.end(), IsReplicated);
}

//! Of Skein's plan; inner joins that every task computes count as one task's.
void AddPlan(const Json &op, QueryNumbers &numbers) {
	if (op["kind"] == "leaf") {
		numbers.scans[TableIn(op["variants"][0]["reads"], "files=[")].push_back(CheckLeaf(op));
	} else if (op["name"] == "COMPARISON_JOIN" &&
			   op["details"].get<std::string>().find("join type=INNER") != std::string::npos) {
		uint64_t most = 0;
		for (auto &task : op["tasks"]) {
			most = std::max(most, Number(task["rows"]));
		}
		numbers.inner_joins.push_back(IsReplicated(op) ? most : Number(op["rows"]));
	}
	for (auto &child : op["children"]) {
		AddPlan(child, numbers);
	}
}

QueryNumbers RunDistributed(duckdb::Connection &connection, const std::string &sql) {
	RunOrThrow(connection, "SET skein_mode = 'force'");
	auto json = ExplainAnalyze(connection, sql);
	if (!json["distributed"]) {
		throw std::runtime_error("it was not distributed");
	}
	QueryNumbers numbers;
	AddPlan(json["plan"], numbers);
	for (auto &stage : json["stages"]) {
		if (stage["task_reports"].size() != Number(stage["tasks"])) {
			throw std::runtime_error("not all tasks have reported: " + stage.dump());
		}
		AddPlan(stage["plan"], numbers);
	}
	numbers.result = json["plan"]["rows"];
	numbers.Sort();
	return numbers;
}

std::string ReadQuery(const fs::path &path) {
	std::ifstream stream(path);
	std::ostringstream text;
	text << stream.rdbuf();
	return text.str().substr(0, text.str().find("\n----\n"));
}

std::vector<fs::path> QueryFiles(const fs::path &folder) {
	std::vector<fs::path> files;
	for (auto &entry : fs::directory_iterator(folder)) {
		if (entry.path().extension() == ".plan" && entry.path().filename().string()[0] == 'q') {
			files.push_back(entry.path());
		}
	}
	std::sort(files.begin(), files.end());
	return files;
}

int Compare(const std::string &extensions, const fs::path &queries) {
	TemporaryFolder folder;
	SqlTestDatabase database;
	auto &connection = *database.connection;
	MakeTpchTables(connection, "0.1", extensions, folder.Path());
	RunOrThrow(connection, "SET disabled_optimizers = 'join_filter_pushdown,late_materialization'");
	RunOrThrow(connection, "SET threads = 2");
	size_t compared = 0;
	size_t failures = 0;
	for (auto &file : QueryFiles(queries)) {
		auto sql = ReadQuery(file);
		auto expected = RunAlone(connection, sql, folder.Path()).ToString();
		for (auto workers : {1, 3, 7}) {
			RunOrThrow(connection, "SET skein_workers = " + std::to_string(workers));
			std::string actual;
			try {
				actual = RunDistributed(connection, sql).ToString();
			} catch (const std::exception &error) {
				actual = error.what();
			}
			compared++;
			if (actual != expected) {
				failures++;
				std::cerr << file.filename().string() << " with " << workers << " workers: " << actual
						  << "\n  instead of " << expected << "\n";
			}
		}
	}
	std::cout << compared << " profiles, " << failures << " differ\n";
	return compared == 0 || failures > 0 ? 1 : 0;
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	std::string extensions;
	std::string queries;
	CLI::App app("Compares the numbers of operators with those of DuckDB");
	app.add_option("--extensions", extensions, "Where DuckDB's extensions lie")->required();
	app.add_option("folder", queries, "Where the queries lie")->required();
	CLI11_PARSE(app, argc, argv);
	try {
		return skein::test::Compare(extensions, queries);
	} catch (const std::exception &error) {
		std::cerr << duckdb::ErrorData(error).Message() << '\n';
		return 1;
	}
}
