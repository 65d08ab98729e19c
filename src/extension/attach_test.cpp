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

} // namespace
} // namespace skein
