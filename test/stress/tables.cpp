#include "tables.hpp"

#include <filesystem>

namespace skein::test {
namespace {

constexpr size_t FACT_FILES = 64;
constexpr size_t FACTS_OF_A_FILE = 64;
constexpr size_t KEY_FILES = 4;
constexpr size_t KEYS_OF_A_FILE = 30;

void Run(duckdb::Connection &connection, const std::string &sql) {
	auto result = connection.Query(sql);
	if (result->HasError()) {
		result->ThrowError();
	}
}

//! Writes `files` files of `rows` rows each; `columns` are made of `range`, which counts through all of them.
void WriteTable(duckdb::Connection &connection, const std::string &folder, const std::string &columns, size_t files,
				size_t rows) {
	std::filesystem::create_directories(folder);
	for (size_t file = 0; file < files; file++) {
		Run(connection, duckdb::StringUtil::Format("COPY (SELECT %s FROM range(%llu, %llu)) TO '%s/%02llu.parquet'",
												   columns, file * rows, (file + 1) * rows, folder, file));
	}
}

} // namespace

void WriteStressTables(const std::string &folder) {
	duckdb::DuckDB database(nullptr);
	duckdb::Connection connection(database);
	WriteTable(connection, folder + "/facts",
			   "range AS id, range * 7 % 97 AS k, range * range % 1009 AS v, 'text ' || range % 11 AS t", FACT_FILES,
			   FACTS_OF_A_FILE);
	WriteTable(connection, folder + "/keys", "range AS k, 'name ' || range AS name", KEY_FILES, KEYS_OF_A_FILE);
}

void OpenStressTables(duckdb::Connection &connection, const std::string &folder) {
	for (auto table : {"facts", "keys"}) {
		Run(connection,
			duckdb::StringUtil::Format("CREATE VIEW %s AS FROM read_parquet('%s/%s/*.parquet')", table, folder, table));
	}
	Run(connection,
		"CREATE TABLE owned AS SELECT range AS id, range % 89 AS k, range * 31 % 1009 AS v FROM range(600)");
}

} // namespace skein::test
