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

void MakeTpchTables(duckdb::Connection &connection, const std::string &scale, const std::string &extensions,
					const std::string &folder) {
	RunOrThrow(connection, "SET skein_mode = 'off'");
	RunOrThrow(connection, "LOAD " + duckdb::Value(extensions + "/tpch.duckdb_extension").ToSQLString());
	// Several threads that write a file do not always cut it into the same row groups.
	RunOrThrow(connection, "SET threads = 1");
	RunOrThrow(connection, "CALL dbgen(sf = " + scale + ")");
	for (std::string table : {"customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"}) {
		auto files = table == "nation" || table == "region" ? 1 : 4;
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
	RunOrThrow(connection, "RESET threads");
}

} // namespace skein::test
