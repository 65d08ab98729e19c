#pragma once

#include "wire/page_codec.hpp"

#include "duckdb.hpp"

#include <gtest/gtest.h>

namespace skein {

using Row = duckdb::vector<duckdb::Value>;
using Types = duckdb::vector<duckdb::LogicalType>;

//! A selection that is not set.
inline const duckdb::SelectionVector ALL_ROWS;

//! An in-memory database of which only the connection matters.
struct Engine {
	duckdb::DuckDB database{nullptr};
	duckdb::Connection connection{database};

	duckdb::unique_ptr<duckdb::MaterializedQueryResult> Query(const std::string &sql) {
		auto result = connection.Query(sql);
		if (result->HasError()) {
			result->ThrowError();
		}
		return result;
	}
};

inline Row RowOf(duckdb::DataChunk &chunk, duckdb::idx_t row) {
	Row result;
	for (duckdb::idx_t column = 0; column < chunk.ColumnCount(); column++) {
		result.push_back(chunk.GetValue(column, row));
	}
	return result;
}

//! Also tells apart what SQL holds to be equal, as 0.0 and -0.0.
inline bool SameValue(const duckdb::Value &left, const duckdb::Value &right) {
	return left.type() == right.type() && left.IsNull() == right.IsNull() && left.ToString() == right.ToString() &&
		   duckdb::Value::NotDistinctFrom(left, right);
}

inline void ExpectSameRows(const std::vector<Row> &actual, const std::vector<Row> &expected) {
	ASSERT_EQ(actual.size(), expected.size());
	for (size_t row = 0; row < expected.size(); row++) {
		ASSERT_EQ(actual[row].size(), expected[row].size());
		for (size_t column = 0; column < expected[row].size(); column++) {
			ASSERT_TRUE(SameValue(actual[row][column], expected[row][column]))
				<< "row " << row << " column " << column << ": " << actual[row][column].ToString() << " instead of "
				<< expected[row][column].ToString() << " (" << expected[row][column].type().ToString() << ")";
		}
	}
}

//! The page in memory of exactly its size, so that a sanitizer sees every access outside of it.
inline SharedBytes Seal(PageBuilder &builder, PageChecksum checksum = PageChecksum::XXH3) {
	const auto size = builder.SealedSize();
	std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
	builder.Seal(memory.get(), checksum);
	const auto data = memory.get();
	return SharedBytes{std::move(memory), data, size};
}

inline SharedBytes CopyOf(const uint8_t *data, size_t size) {
	std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
	memcpy(memory.get(), data, size);
	const auto copy = memory.get();
	return SharedBytes{std::move(memory), copy, size};
}

inline std::vector<Row> ReadRows(const SharedBytes &page, const Types &types) {
	PageReader reader(page, types, {.verify_checksum = true, .verify_values = true});
	duckdb::DataChunk chunk;
	chunk.InitializeEmpty(types);
	std::vector<Row> rows;
	while (reader.Next(chunk)) {
		EXPECT_GT(chunk.size(), 0);
		EXPECT_LE(chunk.size(), STANDARD_VECTOR_SIZE);
		for (duckdb::idx_t row = 0; row < chunk.size(); row++) {
			rows.push_back(RowOf(chunk, row));
		}
	}
	EXPECT_EQ(chunk.size(), 0);
	EXPECT_EQ(rows.size(), reader.RowCount());
	return rows;
}

//! Appends all rows of the chunks of `result` to one page.
inline std::vector<Row> AppendAll(PageBuilder &builder, duckdb::MaterializedQueryResult &result) {
	PreparedChunk prepared(result.types);
	std::vector<Row> expected;
	while (auto chunk = result.Fetch()) {
		for (duckdb::idx_t row = 0; row < chunk->size(); row++) {
			expected.push_back(RowOf(*chunk, row));
		}
		prepared.Prepare(*chunk);
		builder.Append(prepared, ALL_ROWS, 0, chunk->size());
	}
	return expected;
}

//! A page of one column with the rows 0 .. count of `vector`.
inline SharedBytes PageOf(duckdb::Vector &vector, duckdb::idx_t count, std::vector<Row> &expected) {
	const Types types{vector.GetType()};
	duckdb::DataChunk chunk;
	chunk.InitializeEmpty(types);
	chunk.data[0].Reference(vector);
	chunk.SetCardinality(count);
	for (duckdb::idx_t row = 0; row < count; row++) {
		expected.push_back(RowOf(chunk, row));
	}
	PreparedChunk prepared(types);
	prepared.Prepare(chunk);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
	builder.Append(prepared, ALL_ROWS, 0, count);
	return Seal(builder);
}

inline void ExpectQueryRoundTrips(const std::string &sql) {
	Engine engine;
	auto result = engine.Query(sql);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	ASSERT_FALSE(expected.empty());
	const auto page = Seal(builder);
	ExpectSameRows(ReadRows(page, result->types), expected);
}

} // namespace skein
