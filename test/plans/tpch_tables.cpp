#include "test/plans/tpch_tables.hpp"

#include "test/support/oracle.hpp"

#include <filesystem>

namespace skein::test {

namespace fs = std::filesystem;

void RunOrThrow(duckdb::Connection &connection, const std::string &sql) {
	auto outcome = RunSql(connection, sql);
	if (!outcome.answer) {
		throw std::runtime_error(sql + ": " + outcome.ErrorLine());
	}
}

namespace {

//! Moves a table into files of equal numbers of rows and makes it a view of them.
void MoveToFiles(duckdb::Connection &connection, const std::string &table, int files, const std::string &folder) {
	fs::create_directories(fs::path(folder) / table);
	for (int file = 0; file < files; file++) {
		auto share = "(SELECT count(*) FROM " + table + ") // " + std::to_string(files);
		auto rows = "SELECT * FROM " + table + " WHERE rowid >= " + share + " * " + std::to_string(file) +
					(file + 1 < files ? " AND rowid < " + share + " * " + std::to_string(file + 1) : "");
		RunOrThrow(connection, "COPY (" + rows + ") TO '" + folder + "/" + table + "/" + std::to_string(file) +
								   ".parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)");
	}
	RunOrThrow(connection, "DROP TABLE " + table);
	RunOrThrow(connection, "CREATE VIEW " + table + " AS SELECT * FROM '" + folder + "/" + table + "/*.parquet'");
}

//! Calls `generate`, of one of DuckDB's extensions, and moves all tables into files.
void MakeTables(duckdb::Connection &connection, const std::string &extension, const std::string &generate,
				const std::string &folder) {
	constexpr int64_t SMALL_TABLE_ROWS = 100;
	RunOrThrow(connection, "SET skein_mode = 'off'");
	RunOrThrow(connection, "LOAD " + duckdb::Value(extension).ToSQLString());
	// Several threads that write a file do not always cut it into the same row groups.
	RunOrThrow(connection, "SET threads = 1");
	RunOrThrow(connection, generate);
	auto tables = RunSql(connection, "SELECT table_name, estimated_size FROM duckdb_tables() ORDER BY ALL");
	for (auto &row : tables.answer->rows) {
		auto files = row[1].GetValue<int64_t>() < SMALL_TABLE_ROWS ? 1 : 4;
		MoveToFiles(connection, row[0].ToString(), files, folder);
	}
	RunOrThrow(connection, "RESET threads");
}

} // namespace

void MakeTpchTables(duckdb::Connection &connection, const std::string &scale, const std::string &extensions,
					const std::string &folder) {
	MakeTables(connection, extensions + "/tpch.duckdb_extension", "CALL dbgen(sf = " + scale + ")", folder);
}

void MakeTpcdsTables(duckdb::Connection &connection, const std::string &scale, const std::string &extensions,
					 const std::string &folder) {
	MakeTables(connection, extensions + "/tpcds.duckdb_extension", "CALL dsdgen(sf = " + scale + ")", folder);
}

} // namespace skein::test
