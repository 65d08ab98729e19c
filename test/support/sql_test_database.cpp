#include "sql_test_database.hpp"

#include "skein/skein.hpp"

namespace skein::test {

SqlTestDatabase::SqlTestDatabase() {
	duckdb::DBConfig config;
	config.SetOptionByName("allow_unsigned_extensions", true);
	config.SetOptionByName("autoinstall_known_extensions", false);
	database = duckdb::make_uniq<duckdb::DuckDB>(nullptr, &config);
	Attach(*database->instance);
	connection = duckdb::make_uniq<duckdb::Connection>(*database);
}

} // namespace skein::test
