#include "skein/skein.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

bool Distributes(DuckDB &db) {
	Connection connection(db);
	for (auto sql : {"SET skein_workers = 2", "SET skein_mode = 'force'", "SELECT count(*) FROM range(10)"}) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << result->GetError();
	}
	auto result = connection.Query("SELECT distributed FROM skein_last_query()");
	return !result->HasError() && result->RowCount() == 1 && !result->GetValue(0, 0).IsNull();
}

TEST(Attach, DoesNothingTheSecondTime) {
	DuckDB db(nullptr);
	Attach(*db.instance);
	Attach(*db.instance);
	EXPECT_TRUE(Distributes(db));
}

TEST(Attach, WorksOnADatabaseThatTookOverTheSettingsOfAnother) {
	DBConfig config;
	{
		DuckDB first(nullptr);
		Attach(*first.instance);
		config.user_settings = DBConfig::GetConfig(*first.instance).user_settings;
	}
	DuckDB second(nullptr, &config);
	Attach(*second.instance);
	EXPECT_TRUE(Distributes(second));
}

TEST(LocalWorkers, TheirMemoryFollowsTheLimitOfTheSession) {
	DuckDB db(nullptr);
	Attach(*db.instance);
	Connection connection(db);
	auto query = [&](const std::string &sql) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << sql << ": " << result->GetError();
		return result->HasError() || result->RowCount() == 0 ? Value() : result->GetValue(0, 0);
	};
	query("SET skein_workers = 2");
	query("SET skein_mode = 'force'");
	for (auto bytes : {15000000, 20000000, 400000000, 30000000}) {
		query("SET memory_limit = '" + std::to_string(bytes) + "B'");
		EXPECT_EQ(query("SELECT count(*) FROM range(10)"), Value::BIGINT(10));
		auto distributed = bytes >= (16 << 20);
		EXPECT_EQ(query("SELECT distributed FROM skein_last_query()"), Value::BOOLEAN(distributed)) << bytes;
		EXPECT_EQ(
			query("SELECT coalesce(reason, '') LIKE '%memory_limit of at least 16.0 MiB' FROM skein_last_query()"),
			Value::BOOLEAN(!distributed));
		if (distributed) {
			EXPECT_EQ(query("SELECT min(memory_limit) FROM skein_cluster()"), Value::BIGINT(bytes / 2));
		}
	}
}

TEST(Settings, ValuesThatCanOnlyBeMistakesAreRefused) {
	DuckDB db(nullptr);
	Attach(*db.instance);
	Connection connection(db);
	for (auto sql :
		 {"SET skein_page_bytes = '18446744073709551615'", "SET skein_page_bytes = '-1'",
		  "SET skein_page_bytes = '99999999999999999999999999'", "SET skein_page_bytes = '2GiB'",
		  "SET skein_buffer_bytes = '0'", "SET skein_buffer_bytes = '4000000TB'", "SET skein_workers = 100000",
		  "SET skein_max_tasks = 1000000", "SET skein_query_timeout = '...'", "SET skein_query_timeout = '1.2.3'",
		  "SET skein_query_timeout = '99999999999999999999'", "SET skein_query_timeout = '-1 second'"}) {
		auto result = connection.Query(sql);
		ASSERT_TRUE(result->HasError()) << sql;
		EXPECT_NE(result->GetErrorObject().Type(), ExceptionType::INVALID) << sql << ": " << result->GetError();
	}
	for (auto sql : {"SET skein_page_bytes = '4KB'", "SET skein_buffer_bytes = 1", "SET skein_workers = 1024",
					 "SET skein_query_timeout = '1.5'", "SET skein_query_timeout = '2 minutes'"}) {
		EXPECT_FALSE(connection.Query(sql)->HasError()) << sql;
	}
}

} // namespace
} // namespace skein
