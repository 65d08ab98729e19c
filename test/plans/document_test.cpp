//! Keeps the plans that a document shows true.
//!
//!     document_test --extensions DIR [--rewrite] FILE.md
//!
//! A block ```sql that begins with EXPLAIN is run; the block ```text (or ```json) after it is what it shows. Before,
//! the settings of a block of SET statements are made. Tables are those of TPC-H at scale 0.01, in Parquet files.
//! Times, sizes, folders and who ran a task differ from run to run and count as equal; rows, stages and tasks must be
//! as written.

#include "test/plans/tpch_tables.hpp"
#include "test/support/oracle.hpp"
#include "test/support/sql_test_database.hpp"
#include "test/support/temporary_folder.hpp"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

namespace skein::test {
namespace {

//! A fenced block: what stands behind its opening fence, and where its text lies in the document.
struct Block {
	std::string kind;
	size_t begin;
	size_t end;
};

std::vector<Block> FindBlocks(const std::string &document) {
	std::vector<Block> result;
	const std::string fence = "```";
	for (size_t at = document.find(fence); at != std::string::npos; at = document.find(fence, at)) {
		auto line_end = document.find('\n', at);
		auto close = document.find("\n" + fence, line_end - 1);
		if (line_end == std::string::npos || close == std::string::npos) {
			throw std::runtime_error("a block has no end");
		}
		result.push_back({document.substr(at + fence.size(), line_end - at - fence.size()), line_end + 1, close + 1});
		at = close + 1 + fence.size();
	}
	return result;
}

std::string Run(duckdb::Connection &connection, const std::string &sql) {
	auto outcome = RunSql(connection, sql);
	if (!outcome.answer) {
		throw std::runtime_error(sql + ": " + outcome.ErrorLine());
	}
	return outcome.answer->rows.empty() ? "" : outcome.answer->rows[0].back().ToString();
}

//! What Skein shows, without DuckDB's own profile of the head, which follows it, and without the folder.
std::string Shown(std::string text, const std::string &folder) {
	text = text.substr(0, text.find("\nThe head, in this session:"));
	text = std::regex_replace(text, std::regex(folder + "/"), "");
	while (!text.empty() && text.back() == '\n') {
		text.pop_back();
	}
	return text + "\n";
}

std::string Mask(std::string text) {
	text = std::regex_replace(text, std::regex("[0-9.]+ ms"), "TIME");
	text = std::regex_replace(
		text, std::regex("\"(ms|blocked_ms|started_ms|wall_ms|queue_ms|cpu_ms|slowest_ms|median_ms)\": [0-9.e-]+"),
		"\"$1\": TIME");
	text = std::regex_replace(
		text, std::regex("\"(bytes|link_bytes|pages|bytes_read|peak_memory_bytes|peak_temp_bytes)\": [0-9]+"),
		"\"$1\": SIZE");
	text = std::regex_replace(text, std::regex("\"slowest_task\": [0-9]+"), "\"slowest_task\": TASK");
	text = std::regex_replace(text, std::regex("bytes=[0-9]+"), "bytes=SIZE");
	text = std::regex_replace(text, std::regex("in [0-9]+ pages"), "in PAGES");
	text = std::regex_replace(text, std::regex("on local-[0-9]+:"), "on WORKER:");
	text = std::regex_replace(text, std::regex("slowest( task)? t[0-9]+"), "slowest$1 TASK");
	return std::regex_replace(text, std::regex("[0-9.]+ ([KMG]i?B|bytes?)"), "SIZE");
}

std::string Read(const std::string &path) {
	std::ifstream stream(path);
	std::ostringstream text;
	text << stream.rdbuf();
	return text.str();
}

int Check(const std::string &extensions, const std::string &path, bool rewrite) {
	TemporaryFolder folder;
	SqlTestDatabase database;
	auto &connection = *database.connection;
	MakeTpchTables(connection, "0.01", extensions, folder.Path());
	auto document = Read(path);
	auto blocks = FindBlocks(document);
	std::string result;
	size_t copied = 0;
	size_t checked = 0;
	auto failed = false;
	for (size_t i = 0; i < blocks.size(); i++) {
		auto sql = document.substr(blocks[i].begin, blocks[i].end - blocks[i].begin);
		if (blocks[i].kind != "sql") {
			continue;
		}
		if (sql.rfind("EXPLAIN", 0) != 0) {
			Run(connection, sql);
			continue;
		}
		auto &shown = blocks.at(i + 1);
		auto actual = Shown(Run(connection, sql), folder.Path());
		auto expected = document.substr(shown.begin, shown.end - shown.begin);
		result += document.substr(copied, shown.begin - copied) + actual;
		copied = shown.end;
		checked++;
		if (!rewrite && Mask(actual) != Mask(expected)) {
			failed = true;
			std::cerr << sql << "shows\n" << actual << "and not\n" << expected;
		}
	}
	if (rewrite) {
		std::ofstream(path) << result << document.substr(copied);
		return 0;
	}
	std::cout << checked << " plans" << (failed ? ", not all as written" : "") << "\n";
	return checked == 0 || failed ? 1 : 0;
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	std::string extensions;
	std::string document;
	bool rewrite = false;
	CLI::App app("Compares the plans that a document shows with those that EXPLAIN shows");
	app.add_option("--extensions", extensions, "Where DuckDB's extensions lie")->required();
	app.add_flag("--rewrite", rewrite, "Write the plans instead");
	app.add_option("document", document, "The document")->required();
	CLI11_PARSE(app, argc, argv);
	try {
		return skein::test::Check(extensions, document, rewrite);
	} catch (const std::exception &error) {
		std::cerr << duckdb::ErrorData(error).Message() << '\n';
		return 1;
	}
}
