#include "wire/page_codec_test_support.hpp"

#include <random>

namespace skein {

using duckdb::DataChunk;
using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::SelectionVector;
using duckdb::Value;
using duckdb::Vector;
using duckdb::VectorType;

namespace {

void ExpectVectorRoundTrips(Vector &vector, idx_t count) {
	std::vector<Row> expected;
	const auto page = PageOf(vector, count, expected);
	ExpectSameRows(ReadRows(page, {vector.GetType()}), expected);
}

//===--------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------===//

TEST(PageCodecTypes, EveryTypeOfTheEngine) {
	ExpectQueryRoundTrips("SELECT * FROM test_all_types()");
}

TEST(PageCodecTypes, EveryTypeWithNullsOnly) {
	ExpectQueryRoundTrips("SELECT * FROM (FROM test_all_types() OFFSET 2), range(100)");
}

TEST(PageCodecTypes, TypesThatTestAllTypesLacks) {
	ExpectQueryRoundTrips("SELECT NULL AS n, [NULL] AS nl, {'a': NULL} AS ns, '{\"a\": [1, 2]}'::JSON AS j, "
						  "'-0.0'::DOUBLE AS z, 'infinity'::DATE AS inf, '12:00:00+05'::TIMETZ AS tz, "
						  "1234567890123456789012345678901234567.8::DECIMAL(38, 1) AS d, "
						  "'340282366920938463463374607431768211455'::UHUGEINT AS u, "
						  "repeat('9', 300)::BIGNUM AS big, ''::BLOB AS empty, '101'::BIT AS bits");
}

TEST(PageCodecTypes, Variant) {
	ExpectQueryRoundTrips("SELECT CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN i::VARIANT "
						  "WHEN 2 THEN {'a': [i, i + 1], 'b': 'some longer text than fits inline'}::VARIANT "
						  "ELSE [i::VARCHAR, NULL]::VARIANT END AS v FROM range(5000) t(i)");
}

TEST(PageCodecTypes, Unions) {
	ExpectQueryRoundTrips(
		"SELECT CASE WHEN i % 3 = 0 THEN union_value(num := i)::UNION(num BIGINT, str VARCHAR) "
		"WHEN i % 3 = 1 THEN NULL ELSE ('text that is long ' || i)::UNION(num BIGINT, str VARCHAR) END "
		"FROM range(5000) t(i)");
}

TEST(PageCodecTypes, ListsOfStructsOfLists) {
	ExpectQueryRoundTrips(
		"SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE [CASE WHEN j % 5 = 0 THEN NULL ELSE "
		"{'k': j, 'l': [CASE WHEN k % 3 = 0 THEN NULL ELSE 'element number ' || k END for k in range(j % 4)], "
		"'m': MAP {j: [j::VARCHAR]}} END for j in range(i % 11)] END AS x FROM range(6000) t(i)");
}

TEST(PageCodecTypes, ArraysWithNulls) {
	ExpectQueryRoundTrips("SELECT (CASE WHEN i % 3 = 0 THEN NULL ELSE [i, NULL, i * 2] END)::BIGINT[3] AS a, "
						  "[['text ' || i, NULL], NULL]::VARCHAR[2][2] AS b FROM range(5000) t(i)");
}

TEST(PageCodecTypes, TypesWithoutValuesAreRefused) {
	EXPECT_THROW(PageBuilder(duckdb::Allocator::DefaultAllocator(), {LogicalType::ANY}),
				 duckdb::NotImplementedException);
}

//===--------------------------------------------------------------------===//
// Kinds of vectors
//===--------------------------------------------------------------------===//

TEST(PageCodecVectors, Sequence) {
	Vector vector(LogicalType::BIGINT);
	vector.Sequence(7, -3, 2000);
	ExpectVectorRoundTrips(vector, 2000);
}

TEST(PageCodecVectors, DictionaryOfEveryType) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types()");
	auto chunk = result->Fetch();
	SelectionVector selection(STANDARD_VECTOR_SIZE);
	std::mt19937 random(1);
	for (idx_t i = 0; i < STANDARD_VECTOR_SIZE; i++) {
		selection.set_index(i, random() % chunk->size());
	}
	chunk->Slice(selection, STANDARD_VECTOR_SIZE);
	for (auto &vector : chunk->data) {
		SCOPED_TRACE(vector.GetType().ToString());
		ExpectVectorRoundTrips(vector, STANDARD_VECTOR_SIZE);
	}
}

TEST(PageCodecVectors, DictionaryOfADictionaryOfEveryType) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types()");
	auto chunk = result->Fetch();
	SelectionVector wide(100);
	SelectionVector narrow(50);
	for (idx_t i = 0; i < 100; i++) {
		wide.set_index(i, i % 3);
	}
	for (idx_t i = 0; i < 50; i++) {
		narrow.set_index(i, 99 - i);
	}
	chunk->Slice(wide, 100);
	chunk->Slice(narrow, 50);
	for (auto &vector : chunk->data) {
		SCOPED_TRACE(vector.GetType().ToString());
		ExpectVectorRoundTrips(vector, 50);
	}
}

TEST(PageCodecVectors, SelectionFromADictionaryOfEveryType) {
	Engine engine;
	auto result = engine.Query("SELECT t.* FROM test_all_types() t, range(100)");
	auto chunk = result->Fetch();
	SelectionVector dictionary(STANDARD_VECTOR_SIZE);
	SelectionVector selection(500);
	std::mt19937 random(1);
	for (idx_t i = 0; i < STANDARD_VECTOR_SIZE; i++) {
		dictionary.set_index(i, random() % chunk->size());
	}
	for (idx_t i = 0; i < 500; i++) {
		selection.set_index(i, random() % STANDARD_VECTOR_SIZE);
	}
	chunk->Slice(dictionary, STANDARD_VECTOR_SIZE);
	std::vector<Row> expected;
	for (idx_t i = 10; i < 500; i++) {
		expected.push_back(RowOf(*chunk, selection.get_index(i)));
	}
	PreparedChunk prepared(result->types);
	prepared.Prepare(*chunk);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	builder.Append(prepared, selection, 10, 490);
	ExpectSameRows(ReadRows(Seal(builder), result->types), expected);
	builder.Append(prepared, ALL_ROWS, 7, 3);
	ExpectSameRows(ReadRows(Seal(builder), result->types), {RowOf(*chunk, 7), RowOf(*chunk, 8), RowOf(*chunk, 9)});
}

TEST(PageCodecVectors, ConstantOfEveryType) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types()");
	auto chunk = result->Fetch();
	for (idx_t row = 0; row < chunk->size(); row++) {
		for (idx_t column = 0; column < chunk->ColumnCount(); column++) {
			SCOPED_TRACE(result->names[column] + ", row " + std::to_string(row));
			Vector vector(chunk->GetValue(column, row));
			ASSERT_EQ(vector.GetVectorType(), VectorType::CONSTANT_VECTOR);
			ExpectVectorRoundTrips(vector, 70);
		}
	}
}

TEST(PageCodecVectors, ConstantReferenceIntoEveryType) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types()");
	auto chunk = result->Fetch();
	for (idx_t row = 0; row < chunk->size(); row++) {
		for (auto &source : chunk->data) {
			SCOPED_TRACE(source.GetType().ToString());
			Vector vector(source.GetType());
			duckdb::ConstantVector::Reference(vector, source, row, chunk->size());
			ExpectVectorRoundTrips(vector, 70);
		}
	}
}

TEST(PageCodecVectors, NestedOverDictionaries) {
	Engine engine;
	auto result = engine.Query("SELECT [i, i + 1, NULL] AS l, ['text that is long ' || i, NULL]::VARCHAR[2] AS a, "
							   "{'s': 'text that is long ' || i} AS s FROM range(500) t(i)");
	auto chunk = result->Fetch();
	const auto reverse = [](Vector &vector, idx_t count) {
		SelectionVector reversed(count);
		for (idx_t i = 0; i < count; i++) {
			reversed.set_index(i, count - 1 - i);
		}
		vector.Slice(reversed, count);
		ASSERT_EQ(vector.GetVectorType(), VectorType::DICTIONARY_VECTOR);
	};
	reverse(duckdb::ListVector::GetEntry(chunk->data[0]), 1500);
	reverse(duckdb::ArrayVector::GetEntry(chunk->data[1]), 1000);
	reverse(*duckdb::StructVector::GetEntries(chunk->data[2])[0], 500);
	for (auto &vector : chunk->data) {
		SCOPED_TRACE(vector.GetType().ToString());
		ExpectVectorRoundTrips(vector, 500);
	}
}

TEST(PageCodecVectors, SlicedAtAnOffset) {
	Engine engine;
	auto result = engine.Query("SELECT t.* FROM test_all_types() t, range(300)");
	auto chunk = result->Fetch();
	ASSERT_GE(chunk->size(), 900);
	for (auto &source : chunk->data) {
		SCOPED_TRACE(source.GetType().ToString());
		Vector vector(source, 101, 500);
		ExpectVectorRoundTrips(vector, 399);
	}
}

TEST(PageCodecVectors, CompressedStrings) {
	const auto path = testing::TempDir() + "/page_codec_fsst.db";
	std::remove(path.c_str());
	{
		const Types types{LogicalType::VARCHAR};
		PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
		PreparedChunk prepared(types);
		idx_t compressed_chunks = 0;
		duckdb::DuckDB database(path);
		duckdb::Connection connection(database);
		// A function sees the vectors as the scan made them.
		connection.CreateVectorizedFunction(
			"send", types, LogicalType::BOOLEAN, [&](DataChunk &chunk, duckdb::ExpressionState &, Vector &result) {
				compressed_chunks += chunk.data[0].GetVectorType() == VectorType::FSST_VECTOR;
				prepared.Prepare(chunk);
				builder.Append(prepared, ALL_ROWS, 0, chunk.size());
				result.Reference(Value::BOOLEAN(true));
			});
		for (const auto sql : {"SET threads = 1", "SET force_compression = 'fsst'", "SET enable_fsst_vectors = true",
							   "CREATE TABLE t AS SELECT 'a string with number ' || i AS s FROM range(10000) t(i)",
							   "CHECKPOINT", "SELECT count(send(s)) FROM t"}) {
			const auto result = connection.Query(sql);
			ASSERT_FALSE(result->HasError()) << result->GetError();
		}
		EXPECT_GT(compressed_chunks, 0);
		const auto expected = connection.Query("SELECT s FROM t");
		std::vector<Row> expected_rows;
		for (idx_t row = 0; row < expected->RowCount(); row++) {
			expected_rows.push_back({expected->GetValue(0, row)});
		}
		ExpectSameRows(ReadRows(Seal(builder), types), expected_rows);
	}
	std::remove(path.c_str());
}

} // namespace

} // namespace skein
