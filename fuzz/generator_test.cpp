#include "fuzz/generator.hpp"

#include <gtest/gtest.h>

namespace skein::fuzz {
namespace {

TEST(Generator, GivesTheSameQueryForTheSameSeed) {
	Catalog catalog;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		auto first = Generator(catalog, seed).Generate();
		auto second = Generator(catalog, seed).Generate();
		EXPECT_EQ(first.sql, second.sql);
		EXPECT_EQ(first.features, second.features);
		EXPECT_EQ(first.row_order, second.row_order);
	}
}

TEST(Generator, GivesDifferentQueriesForDifferentSeeds) {
	Catalog catalog;
	std::set<std::string> queries;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		queries.insert(Generator(catalog, seed).Generate().sql);
	}
	EXPECT_GT(queries.size(), 480u);
}

TEST(Generator, MakesEveryFeature) {
	Catalog catalog;
	FeatureSet features;
	for (uint64_t seed = 1; seed <= 5000; seed++) {
		features |= Generator(catalog, seed).Generate().features;
	}
	for (size_t feature = 0; feature < FEATURE_COUNT; feature++) {
		EXPECT_TRUE(features[feature]) << FeatureName(feature);
	}
}

//! The tables of the catalog without rows: enough to bind.
void MakeEmptyTables(duckdb::Connection &connection) {
	for (auto &statement : TypeStatements()) {
		ASSERT_FALSE(connection.Query(statement)->HasError());
	}
	Catalog catalog;
	for (auto &table : catalog.Tables()) {
		std::string columns;
		for (auto &column : table.columns) {
			columns += (columns.empty() ? "" : ", ") + column.name + " " + SqlTypeName(column.type);
		}
		ASSERT_FALSE(connection.Query("CREATE TABLE " + table.name + "(" + columns + ")")->HasError());
	}
}

TEST(Generator, NineOfTenQueriesBind) {
	duckdb::DuckDB database(nullptr);
	duckdb::Connection connection(database);
	MakeEmptyTables(connection);
	Catalog catalog;
	constexpr uint64_t QUERIES = 1000;
	uint64_t bound = 0;
	for (uint64_t seed = 1; seed <= QUERIES; seed++) {
		auto prepared = connection.Prepare(Generator(catalog, seed).Generate().sql);
		bound += !prepared->HasError();
	}
	EXPECT_GE(bound, QUERIES * 9 / 10);
}

} // namespace
} // namespace skein::fuzz
