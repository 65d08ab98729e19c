#include "wire/page_codec.hpp"

#include "wire/page_codec_format.hpp"

#include "duckdb.hpp"
#include "duckdb/common/type_visitor.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace skein {

using duckdb::DataChunk;
using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::PhysicalType;
using duckdb::SelectionVector;
using duckdb::Value;
using duckdb::Vector;
using duckdb::VectorType;
using Row = duckdb::vector<Value>;
using Types = duckdb::vector<LogicalType>;

namespace {

const SelectionVector ALL_ROWS;

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

Row RowOf(DataChunk &chunk, idx_t row) {
	Row result;
	for (idx_t column = 0; column < chunk.ColumnCount(); column++) {
		result.push_back(chunk.GetValue(column, row));
	}
	return result;
}

//! Also tells apart what SQL holds to be equal, as 0.0 and -0.0.
bool SameValue(const Value &left, const Value &right) {
	return left.type() == right.type() && left.IsNull() == right.IsNull() && left.ToString() == right.ToString() &&
		   Value::NotDistinctFrom(left, right);
}

void ExpectSameRows(const std::vector<Row> &actual, const std::vector<Row> &expected) {
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
SharedBytes Seal(PageBuilder &builder, PageChecksum checksum = PageChecksum::XXH3) {
	const auto size = builder.SealedSize();
	std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
	builder.Seal(memory.get(), checksum);
	const auto data = memory.get();
	return SharedBytes{std::move(memory), data, size};
}

SharedBytes CopyOf(const uint8_t *data, size_t size) {
	std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
	memcpy(memory.get(), data, size);
	const auto copy = memory.get();
	return SharedBytes{std::move(memory), copy, size};
}

std::vector<Row> ReadRows(const SharedBytes &page, const Types &types) {
	PageReader reader(page, types, {.verify_checksum = true, .verify_values = true});
	DataChunk chunk;
	chunk.InitializeEmpty(types);
	std::vector<Row> rows;
	while (reader.Next(chunk)) {
		EXPECT_GT(chunk.size(), 0);
		EXPECT_LE(chunk.size(), STANDARD_VECTOR_SIZE);
		for (idx_t row = 0; row < chunk.size(); row++) {
			rows.push_back(RowOf(chunk, row));
		}
	}
	EXPECT_EQ(chunk.size(), 0);
	EXPECT_EQ(rows.size(), reader.RowCount());
	return rows;
}

//! Appends all rows of the chunks of `result` to one page.
std::vector<Row> AppendAll(PageBuilder &builder, duckdb::MaterializedQueryResult &result) {
	PreparedChunk prepared(result.types);
	std::vector<Row> expected;
	while (auto chunk = result.Fetch()) {
		for (idx_t row = 0; row < chunk->size(); row++) {
			expected.push_back(RowOf(*chunk, row));
		}
		prepared.Prepare(*chunk);
		builder.Append(prepared, ALL_ROWS, 0, chunk->size());
	}
	return expected;
}

void ExpectQueryRoundTrips(const std::string &sql) {
	Engine engine;
	auto result = engine.Query(sql);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	ASSERT_FALSE(expected.empty());
	const auto page = Seal(builder);
	ExpectSameRows(ReadRows(page, result->types), expected);
}

//! A page of one column with the rows 0 .. count of `vector`.
SharedBytes PageOf(Vector &vector, idx_t count, std::vector<Row> &expected) {
	const Types types{vector.GetType()};
	DataChunk chunk;
	chunk.InitializeEmpty(types);
	chunk.data[0].Reference(vector);
	chunk.SetCardinality(count);
	for (idx_t row = 0; row < count; row++) {
		expected.push_back(RowOf(chunk, row));
	}
	PreparedChunk prepared(types);
	prepared.Prepare(chunk);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
	builder.Append(prepared, ALL_ROWS, 0, count);
	return Seal(builder);
}

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

TEST(PageCodecVectors, ConstantOfEveryType) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types()");
	auto chunk = result->Fetch();
	for (idx_t row = 0; row < chunk->size(); row++) {
		for (idx_t column = 0; column < chunk->ColumnCount(); column++) {
			SCOPED_TRACE(result->names[column] + ", row " + std::to_string(row));
			Vector vector(chunk->GetValue(column, row));
			ASSERT_EQ(vector.GetVectorType(), VectorType::CONSTANT_VECTOR);
			ExpectVectorRoundTrips(vector, 1500);
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
			ExpectVectorRoundTrips(vector, 1500);
		}
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

//===--------------------------------------------------------------------===//
// Partitions and pages
//===--------------------------------------------------------------------===//

//! Rows partitioned at random over builders that seal whenever they are full.
void ExpectPartitionsRoundTrip(const std::string &sql, idx_t partition_count, idx_t page_bytes, uint32_t seed) {
	SCOPED_TRACE(sql + ", seed " + std::to_string(seed));
	Engine engine;
	auto result = engine.Query(sql);
	std::mt19937 random(seed);
	PreparedChunk prepared(result->types);
	std::vector<PageBuilder> builders;
	std::vector<std::vector<Row>> expected(partition_count);
	std::vector<std::vector<Row>> actual(partition_count);
	for (idx_t i = 0; i < partition_count; i++) {
		builders.emplace_back(duckdb::Allocator::DefaultAllocator(), result->types);
	}
	const auto seal = [&](idx_t partition) {
		const auto rows = ReadRows(Seal(builders[partition]), result->types);
		actual[partition].insert(actual[partition].end(), rows.begin(), rows.end());
	};
	while (auto chunk = result->Fetch()) {
		std::vector<std::vector<duckdb::sel_t>> rows(partition_count);
		for (idx_t row = 0; row < chunk->size(); row++) {
			const auto partition = random() % partition_count;
			rows[partition].push_back(row);
			expected[partition].push_back(RowOf(*chunk, row));
		}
		prepared.Prepare(*chunk);
		for (idx_t partition = 0; partition < partition_count; partition++) {
			const SelectionVector selection(rows[partition].data());
			const auto half = rows[partition].size() / 2;
			builders[partition].Append(prepared, selection, 0, half);
			builders[partition].Append(prepared, selection, half, rows[partition].size() - half);
			if (builders[partition].IsFull(page_bytes)) {
				seal(partition);
			}
		}
	}
	for (idx_t partition = 0; partition < partition_count; partition++) {
		seal(partition);
		ExpectSameRows(actual[partition], expected[partition]);
	}
}

TEST(PageCodecPages, RandomPartitionsOfEveryType) {
	for (uint32_t seed = 0; seed < 3; seed++) {
		ExpectPartitionsRoundTrip("SELECT t.* FROM test_all_types() t, range(1500) ORDER BY hash(range)", 1 + seed * 3,
								  100000 << (4 * seed), seed);
	}
}

TEST(PageCodecPages, PagesOfOneRow) {
	ExpectPartitionsRoundTrip("SELECT t.* FROM test_all_types() t, range(3)", 2, 1, 5);
}

TEST(PageCodecPages, TenThousandRowsInSeveralWindows) {
	ExpectQueryRoundTrips("SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE i::SMALLINT END, "
						  "CASE WHEN i % 1000 = 7 THEN NULL ELSE repeat('x', (i % 40)::INTEGER) END, "
						  "CASE WHEN i % 5 = 0 THEN NULL ELSE [i, NULL, i + 1] END, "
						  "CASE WHEN i > 9000 THEN NULL ELSE {'a': i, 'b': i::VARCHAR} END "
						  "FROM range(10000) t(i)");
}

TEST(PageCodecPages, NullsThatBeginAfterManyRows) {
	ExpectQueryRoundTrips("SELECT CASE WHEN i < 7001 THEN i ELSE NULL END FROM range(10000) t(i)");
}

TEST(PageCodecPages, ColumnWithoutNullsHasNoBitmap) {
	Engine engine;
	auto with_nulls = engine.Query("SELECT nullif(i, 3) FROM range(2048) t(i)");
	auto without_nulls = engine.Query("SELECT nullif(i, -3) FROM range(2048) t(i)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), with_nulls->types);
	AppendAll(builder, *with_nulls);
	const auto size_with_nulls = Seal(builder).size;
	AppendAll(builder, *without_nulls);
	EXPECT_EQ(Seal(builder).size, size_with_nulls - 256);
}

TEST(PageCodecPages, RowsWithoutColumnsDoNotVanish) {
	const Types types;
	DataChunk chunk;
	chunk.InitializeEmpty(types);
	chunk.SetCardinality(2000);
	PreparedChunk prepared(types);
	prepared.Prepare(chunk);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
	for (int i = 0; i < 10; i++) {
		builder.Append(prepared, ALL_ROWS, 0, 2000);
	}
	EXPECT_EQ(builder.RowCount(), 20000);
	const auto page = Seal(builder);
	EXPECT_EQ(builder.RowCount(), 0);
	EXPECT_EQ(ReadRows(page, types).size(), 20000);
}

TEST(PageCodecPages, EmptyPage) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types() LIMIT 0");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	EXPECT_TRUE(ReadRows(Seal(builder), result->types).empty());
	PageBuilder builder_without_columns(duckdb::Allocator::DefaultAllocator(), {});
	EXPECT_TRUE(ReadRows(Seal(builder_without_columns), {}).empty());
}

TEST(PageCodecPages, RowLimitIsKept) {
	const Types types;
	DataChunk chunk;
	chunk.InitializeEmpty(types);
	chunk.SetCardinality(1);
	PreparedChunk prepared(types);
	prepared.Prepare(chunk);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
	builder.Append(prepared, ALL_ROWS, 0, PageBuilder::MAX_ROWS - STANDARD_VECTOR_SIZE);
	EXPECT_FALSE(builder.IsFull(1 << 20));
	builder.Append(prepared, ALL_ROWS, 0, STANDARD_VECTOR_SIZE);
	EXPECT_TRUE(builder.IsFull(1 << 20));
	EXPECT_THROW(builder.Append(prepared, ALL_ROWS, 0, 1), duckdb::OutOfRangeException);
}

TEST(PageCodecPages, SealedPagesAreTheSameForTheSameRows) {
	Engine engine;
	auto first = engine.Query("SELECT t.* FROM test_all_types() t, range(10)");
	auto second = engine.Query("SELECT t.* FROM test_all_types() t, range(10)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), first->types);
	AppendAll(builder, *first);
	const auto first_page = Seal(builder);
	AppendAll(builder, *second);
	const auto second_page = Seal(builder);
	ASSERT_EQ(first_page.size, second_page.size);
	EXPECT_EQ(memcmp(first_page.data, second_page.data, first_page.size), 0);
}

//===--------------------------------------------------------------------===//
// Size
//===--------------------------------------------------------------------===//

TEST(PageCodecSize, ValueOf100Megabytes) {
	Vector vector(Value(std::string(100 << 20, 'x')));
	vector.Flatten(2);
	std::vector<Row> expected;
	const auto page = PageOf(vector, 2, expected);
	EXPECT_GE(page.size, 200 << 20);
	ExpectSameRows(ReadRows(page, {LogicalType::VARCHAR}), expected);
}

TEST(PageCodecSize, ListOfTenMillionElements) {
	Engine engine;
	auto result = engine.Query("SELECT list(i) AS l FROM range(10000000) t(i)");
	auto source = result->Fetch();
	PreparedChunk prepared(result->types);
	prepared.Prepare(*source);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	builder.Append(prepared, ALL_ROWS, 0, 1);
	const auto page = Seal(builder);
	PageReader reader(page, result->types);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	ASSERT_TRUE(reader.Next(chunk));
	auto &elements = duckdb::ListVector::GetEntry(chunk.data[0]);
	ASSERT_EQ(duckdb::ListVector::GetListSize(chunk.data[0]), 10000000);
	const auto values = duckdb::FlatVector::GetData<int64_t>(elements);
	for (int64_t i = 0; i < 10000000; i++) {
		ASSERT_EQ(values[i], i);
	}
}

TEST(PageCodecSize, SliceShipsOnlySelectedBytes) {
	Engine engine;
	auto result = engine.Query("SELECT repeat(chr(97 + (i % 26)::INTEGER), 1000) AS s, [s, s] AS l, {'s': s} AS t, "
							   "[s]::VARCHAR[1] AS a FROM range(2048) t(i)");
	auto chunk = result->Fetch();
	PreparedChunk prepared(result->types);
	prepared.Prepare(*chunk);
	SelectionVector selection(2);
	selection.set_index(0, 2000);
	selection.set_index(1, 5);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	builder.Append(prepared, selection, 0, 2);
	EXPECT_EQ(builder.RowCount(), 2);
	EXPECT_LT(builder.SealedSize(), 11000);
	ExpectSameRows(ReadRows(Seal(builder), result->types), {RowOf(*chunk, 2000), RowOf(*chunk, 5)});
}

TEST(PageCodecSize, ConstantsTakeTheSpaceOfOneValue) {
	Engine engine;
	auto result = engine.Query("SELECT 42 AS i, repeat('x', 50) AS s, NULL::BIGINT AS n FROM range(10000)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	PreparedChunk prepared(result->types);
	for (int i = 0; i < 5; i++) {
		chunk.data[0].Reference(Value::INTEGER(42));
		chunk.data[1].Reference(Value(std::string(50, 'x')));
		chunk.data[2].Reference(Value(LogicalType::BIGINT));
		chunk.SetCardinality(2000);
		prepared.Prepare(chunk);
		builder.Append(prepared, ALL_ROWS, 0, 2000);
	}
	const auto page = Seal(builder);
	EXPECT_LT(page.size, 300);
	PageReader reader(page, result->types);
	ASSERT_TRUE(reader.Next(chunk));
	EXPECT_TRUE(chunk.AllConstant());
	std::vector<Row> expected(10000, Row{Value::INTEGER(42), Value(std::string(50, 'x')), Value(LogicalType::BIGINT)});
	ExpectSameRows(ReadRows(page, result->types), expected);
}

TEST(PageCodecSize, ConstantThatChangesIsGivenUp) {
	const Types types{LogicalType::VARCHAR, LogicalType::HUGEINT};
	const std::vector<Row> values{{Value(std::string(100, 'a')), Value::HUGEINT(1)},
								  {Value(std::string(100, 'a')), Value::HUGEINT(1)},
								  {Value(LogicalType::VARCHAR), Value(LogicalType::HUGEINT)},
								  {Value("b"), Value::HUGEINT(2)}};
	DataChunk chunk;
	chunk.InitializeEmpty(types);
	PreparedChunk prepared(types);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
	// Also with NULL as the first value.
	for (const auto &order : {std::vector<int>{0, 1, 2, 3}, std::vector<int>{2, 2, 0, 3}}) {
		std::vector<Row> expected;
		for (const auto i : order) {
			chunk.data[0].Reference(values[i][0]);
			chunk.data[1].Reference(values[i][1]);
			chunk.SetCardinality(1000);
			prepared.Prepare(chunk);
			builder.Append(prepared, ALL_ROWS, 0, 1000);
			expected.insert(expected.end(), 1000, values[i]);
		}
		EXPECT_LT(builder.SealedSize(), 4000 * 32 + 2000);
		ExpectSameRows(ReadRows(Seal(builder), types), expected);
	}
}

TEST(PageCodecSize, RepeatedListsAndStringsAreSharedAndWindowsStaySmall) {
	Engine engine;
	auto result = engine.Query("SELECT [repeat('x', 100), repeat('y', 100)] AS l, repeat('z', 100) AS s");
	auto source = result->Fetch();
	SelectionVector zeros(STANDARD_VECTOR_SIZE);
	for (idx_t i = 0; i < STANDARD_VECTOR_SIZE; i++) {
		zeros.set_index(i, 0);
	}
	source->Slice(zeros, STANDARD_VECTOR_SIZE);
	PreparedChunk prepared(result->types);
	prepared.Prepare(*source);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	builder.Append(prepared, zeros, 0, STANDARD_VECTOR_SIZE);
	builder.Append(prepared, zeros, 0, STANDARD_VECTOR_SIZE);
	EXPECT_LT(builder.SealedSize(), 2 * STANDARD_VECTOR_SIZE * 24 + 2000);
	const auto page = Seal(builder);
	PageReader reader(page, result->types);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	while (reader.Next(chunk)) {
		EXPECT_EQ(duckdb::ListVector::GetListSize(chunk.data[0]), 2);
	}
	ExpectSameRows(ReadRows(page, result->types), std::vector<Row>(2 * STANDARD_VECTOR_SIZE, RowOf(*source, 0)));
}

//===--------------------------------------------------------------------===//
// Reading
//===--------------------------------------------------------------------===//

TEST(PageCodecReader, VectorsOutliveReaderAndPage) {
	Engine engine;
	auto result = engine.Query("SELECT t.* FROM test_all_types() t, range(100)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	std::vector<duckdb::unique_ptr<Vector>> vectors;
	std::weak_ptr<const void> owner;
	{
		auto page = Seal(builder);
		owner = page.owner;
		PageReader reader(std::move(page), result->types);
		DataChunk chunk;
		chunk.Initialize(duckdb::Allocator::DefaultAllocator(), result->types);
		ASSERT_TRUE(reader.Next(chunk));
		for (auto &vector : chunk.data) {
			vectors.push_back(duckdb::make_uniq<Vector>(vector));
		}
		chunk.Reset();
	}
	for (idx_t column = 0; column < vectors.size(); column++) {
		for (idx_t row = 0; row < expected.size(); row++) {
			ASSERT_TRUE(SameValue(vectors[column]->GetValue(row), expected[row][column]));
		}
	}
	EXPECT_FALSE(owner.expired());
	vectors.clear();
	EXPECT_TRUE(owner.expired());
}

TEST(PageCodecReader, EachVectorKeepsThePage) {
	Engine engine;
	auto result = engine.Query("SELECT * FROM test_all_types()");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	const auto page = Seal(builder);
	for (idx_t column = 0; column < result->types.size(); column++) {
		SCOPED_TRACE(result->names[column]);
		Vector vector(result->types[column], nullptr);
		{
			PageReader reader(CopyOf(page.data, page.size), result->types);
			DataChunk chunk;
			chunk.InitializeEmpty(result->types);
			ASSERT_TRUE(reader.Next(chunk));
			vector.Reference(chunk.data[column]);
		}
		for (idx_t row = 0; row < expected.size(); row++) {
			ASSERT_TRUE(SameValue(vector.GetValue(row), expected[row][column]));
		}
	}
}

TEST(PageCodecReader, FixedValuesAndLongStringsAreNotCopied) {
	Engine engine;
	auto result = engine.Query("SELECT i, 'a string of more than 12 bytes ' || i FROM range(5000) t(i)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	AppendAll(builder, *result);
	const auto page = Seal(builder);
	const auto is_in_page = [&](const void *pointer) {
		return pointer >= page.data && pointer < page.data + page.size;
	};
	PageReader reader(page, result->types);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	while (reader.Next(chunk)) {
		EXPECT_TRUE(is_in_page(duckdb::FlatVector::GetData(chunk.data[0])));
		EXPECT_TRUE(is_in_page(duckdb::FlatVector::GetData<duckdb::string_t>(chunk.data[1])[0].GetData()));
	}
}

TEST(PageCodecReader, ListChildOfAWindowHoldsItsElementsOnly) {
	Engine engine;
	auto result = engine.Query("SELECT [i, i, i] FROM range(6000) t(i)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	AppendAll(builder, *result);
	PageReader reader(Seal(builder), result->types);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	while (reader.Next(chunk)) {
		EXPECT_EQ(duckdb::ListVector::GetListSize(chunk.data[0]), 3 * chunk.size());
	}
}

TEST(PageCodecReader, PageInMemoryThatIsNotAligned) {
	Engine engine;
	auto result = engine.Query("SELECT t.* FROM test_all_types() t, range(100)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	const auto page = Seal(builder);
	std::vector<uint8_t> shifted(page.size + 3);
	memcpy(shifted.data() + 3, page.data, page.size);
	ExpectSameRows(ReadRows(SharedBytes{nullptr, shifted.data() + 3, page.size}, result->types), expected);
}

TEST(PageCodecReader, VectorsCanBeUsedByOperators) {
	Engine engine;
	auto result = engine.Query("SELECT t.* FROM test_all_types() t, range(1000)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	duckdb::ColumnDataCollection collection(duckdb::Allocator::DefaultAllocator(), result->types);
	PageReader reader(Seal(builder), result->types);
	DataChunk chunk;
	chunk.Initialize(duckdb::Allocator::DefaultAllocator(), result->types);
	while (reader.Next(chunk)) {
		collection.Append(chunk);
		chunk.Reset();
	}
	std::vector<Row> rows;
	for (auto &collected : collection.Chunks()) {
		for (idx_t row = 0; row < collected.size(); row++) {
			rows.push_back(RowOf(collected, row));
		}
	}
	ExpectSameRows(rows, expected);
}

//===--------------------------------------------------------------------===//
// Malformed pages
//===--------------------------------------------------------------------===//

uint64_t Touch(const void *data, size_t size) {
	const auto bytes = static_cast<const uint8_t *>(data);
	return std::accumulate(bytes, bytes + size, uint64_t(0));
}

//! Reads every byte that the vector refers to, so that a sanitizer sees those outside of the page.
uint64_t TouchVector(Vector &vector, idx_t count) {
	if (vector.GetVectorType() == VectorType::CONSTANT_VECTOR) {
		count = 1;
	}
	uint64_t sum = 0;
	switch (vector.GetType().InternalType()) {
	case PhysicalType::STRUCT:
		for (auto &child : duckdb::StructVector::GetEntries(vector)) {
			sum += TouchVector(*child, count);
		}
		return sum;
	case PhysicalType::ARRAY:
		return TouchVector(duckdb::ArrayVector::GetEntry(vector), count * duckdb::ArrayType::GetSize(vector.GetType()));
	case PhysicalType::LIST: {
		const auto child_count = duckdb::ListVector::GetListSize(vector);
		for (idx_t i = 0; i < count; i++) {
			const auto &entry = duckdb::ListVector::GetData(vector)[i];
			EXPECT_LE(entry.offset, child_count);
			EXPECT_LE(entry.length, child_count - entry.offset);
		}
		return TouchVector(duckdb::ListVector::GetEntry(vector), child_count);
	}
	case PhysicalType::VARCHAR:
		for (idx_t i = 0; i < count; i++) {
			const auto &value = reinterpret_cast<const duckdb::string_t *>(vector.GetData())[i];
			sum += Touch(value.GetData(), value.GetSize());
		}
		return sum;
	default:
		return Touch(vector.GetData(), count * duckdb::GetTypeIdSize(vector.GetType().InternalType()));
	}
}

//! Types whose inner form nobody verifies, so that the engine's own functions must not see them malformed.
bool HasOpaqueContent(const LogicalType &type) {
	return duckdb::TypeVisitor::Contains(type, [](const LogicalType &part) {
		return part.id() == duckdb::LogicalTypeId::VARIANT || part.id() == duckdb::LogicalTypeId::GEOMETRY;
	});
}

//! Reads a page that may be malformed; returns whether it was refused.
bool Survive(const SharedBytes &page, const Types &types, bool verify_values) {
	try {
		PageReader reader(page, types, {.verify_checksum = false, .verify_values = verify_values});
		DataChunk chunk;
		chunk.InitializeEmpty(types);
		// A page of constants can have very many rows.
		for (int window = 0; window < 4 && reader.Next(chunk); window++) {
			for (auto &vector : chunk.data) {
				TouchVector(vector, chunk.size());
				for (idx_t row = 0; verify_values && row < 3 && !HasOpaqueContent(vector.GetType()); row++) {
					try {
						vector.GetValue(row % chunk.size()).ToString();
					} catch (const std::exception &) {
						// A date out of range, for instance, is a value that cannot be printed.
					}
				}
			}
		}
	} catch (const duckdb::SerializationException &) {
		return true;
	}
	return false;
}

struct TestPage {
	Types types;
	SharedBytes page;
};

TestPage MakePage(const std::string &sql) {
	Engine engine;
	auto result = engine.Query(sql);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	AppendAll(builder, *result);
	return {result->types, Seal(builder)};
}

//! All types, nested ones in several windows, constants.
std::vector<TestPage> ManyPages() {
	std::vector<TestPage> pages;
	pages.push_back(MakePage("SELECT * FROM test_all_types()"));
	pages.push_back(MakePage("SELECT i, 'string number ' || i AS s, [s, NULL, 'x'] AS l, {'a': l} AS t "
							 "FROM range(20) t(i)"));
	pages.push_back(MakePage("SELECT [[i, i + 1], NULL, []] AS l, [i, 2]::INTEGER[2] AS a, nullif(i, 3) AS n "
							 "FROM range(2100) t(i)"));
	std::vector<Row> rows;
	Vector constant(Value("a constant string, not inlined"));
	pages.push_back({{LogicalType::VARCHAR}, PageOf(constant, 1000, rows)});
	return pages;
}

TEST(PageCodecMalformed, ChangedBytesDoNotMatchTheChecksum) {
	const auto page = MakePage("SELECT * FROM test_all_types()");
	for (size_t position = 0; position < page.page.size; position++) {
		auto copy = CopyOf(page.page.data, page.page.size);
		const_cast<uint8_t *>(copy.data)[position] ^= 4;
		if (position == offsetof(PageHeader, flags)) {
			continue; // an unknown flag is refused below
		}
		EXPECT_THROW(PageReader(copy, page.types), duckdb::SerializationException) << position;
	}
}

TEST(PageCodecMalformed, TruncatedPagesAreRefused) {
	for (const auto &page : ManyPages()) {
		for (size_t size = 0; size < page.page.size; size += 1 + page.page.size / 5000) {
			const auto truncated = CopyOf(page.page.data, size);
			EXPECT_TRUE(Survive(truncated, page.types, false)) << size;
			if (size >= sizeof(PageHeader)) {
				// The same with a header that admits it.
				const uint64_t total_size = size;
				memcpy(const_cast<uint8_t *>(truncated.data) + offsetof(PageHeader, total_size), &total_size,
					   sizeof(total_size));
				EXPECT_TRUE(Survive(truncated, page.types, false)) << size;
			}
		}
	}
}

TEST(PageCodecMalformed, PagesWithMoreBytesAreRefused) {
	for (const auto &page : ManyPages()) {
		std::vector<uint8_t> longer(page.page.data, page.page.data + page.page.size);
		longer.resize(page.page.size + 16);
		EXPECT_TRUE(Survive(CopyOf(longer.data(), longer.size()), page.types, false));
		const uint64_t total_size = longer.size();
		memcpy(longer.data() + offsetof(PageHeader, total_size), &total_size, sizeof(total_size));
		EXPECT_TRUE(Survive(CopyOf(longer.data(), longer.size()), page.types, false));
	}
}

TEST(PageCodecMalformed, FlippedBitsDoNotCrash) {
	idx_t refused = 0;
	idx_t accepted = 0;
	for (const auto &page : ManyPages()) {
		for (uint32_t seed = 0; seed < 3000; seed++) {
			std::mt19937_64 random(seed);
			auto copy = CopyOf(page.page.data, page.page.size);
			const auto bytes = const_cast<uint8_t *>(copy.data);
			for (idx_t flip = 0; flip <= seed % 4; flip++) {
				bytes[random() % page.page.size] ^= uint8_t(1) << (random() % 8);
			}
			(Survive(copy, page.types, seed % 2 == 0) ? refused : accepted)++;
		}
	}
	EXPECT_GT(refused, 100);
	EXPECT_GT(accepted, 100);
}

TEST(PageCodecMalformed, EveryBitOfTheHeadersFlipped) {
	for (const auto &page : ManyPages()) {
		for (idx_t bit = 0; bit < duckdb::MinValue<idx_t>(page.page.size, 400) * 8; bit++) {
			auto copy = CopyOf(page.page.data, page.page.size);
			const_cast<uint8_t *>(copy.data)[bit / 8] ^= uint8_t(1) << (bit % 8);
			Survive(copy, page.types, true);
		}
	}
}

TEST(PageCodecMalformed, WordsReplacedByExtremesDoNotCrash) {
	for (const auto &page : ManyPages()) {
		for (uint64_t word : {uint64_t(0), ~uint64_t(0), uint64_t(1) << 63, uint64_t(0xFFFFFFFF), uint64_t(1) << 32}) {
			for (idx_t position = 0; position + 8 <= page.page.size; position += 8) {
				auto copy = CopyOf(page.page.data, page.page.size);
				memcpy(const_cast<uint8_t *>(copy.data) + position, &word, sizeof(word));
				Survive(copy, page.types, true);
				position += page.page.size / 16000 * 8;
			}
		}
	}
}

TEST(PageCodecMalformed, OtherTypesAreRefused) {
	const auto page = MakePage("SELECT 1::INTEGER, 'text', [1]");
	const Types other_width{LogicalType::BIGINT, LogicalType::VARCHAR, LogicalType::LIST(LogicalType::INTEGER)};
	const Types other_kind{LogicalType::INTEGER, LogicalType::INTEGER, LogicalType::LIST(LogicalType::INTEGER)};
	const Types other_child{LogicalType::INTEGER, LogicalType::VARCHAR, LogicalType::LIST(LogicalType::VARCHAR)};
	const Types fewer{LogicalType::INTEGER, LogicalType::VARCHAR};
	for (const auto &types : {other_width, other_kind, other_child, fewer}) {
		EXPECT_THROW(PageReader(page.page, types), duckdb::SerializationException);
	}
}

TEST(PageCodecMalformed, OtherVersionIsNamed) {
	const auto page = MakePage("SELECT 1");
	auto copy = CopyOf(page.page.data, page.page.size);
	const_cast<uint8_t *>(copy.data)[offsetof(PageHeader, version)] = 200;
	try {
		PageReader reader(copy, page.types);
		FAIL() << "accepted";
	} catch (const duckdb::SerializationException &error) {
		EXPECT_NE(std::string(error.what()).find("200"), std::string::npos) << error.what();
	}
}

TEST(PageCodecMalformed, ValuesThatTheirTypeForbidsAreRefusedOnRequest) {
	//! Sends a value as `sent` and reads it as `read`, which has the same layout.
	const auto is_refused = [](const Value &value, const LogicalType &read) {
		std::vector<Row> rows;
		Vector vector(value);
		vector.Flatten(1);
		const auto page = PageOf(vector, 1, rows);
		EXPECT_FALSE(Survive(page, {read}, false));
		return Survive(page, {read}, true);
	};
	duckdb::Vector names(LogicalType::VARCHAR, 2);
	names.SetValue(0, Value("a"));
	names.SetValue(1, Value("b"));
	const auto enum_type = LogicalType::ENUM(names, 2);
	EXPECT_TRUE(is_refused(Value::UTINYINT(2), LogicalType::BOOLEAN));
	EXPECT_FALSE(is_refused(Value::UTINYINT(1), LogicalType::BOOLEAN));
	EXPECT_TRUE(is_refused(Value::UTINYINT(2), enum_type));
	EXPECT_FALSE(is_refused(Value::UTINYINT(1), enum_type));
	EXPECT_TRUE(is_refused(Value::BIGINT(-1), LogicalType::TIME));
	EXPECT_FALSE(is_refused(Value::BIGINT(1), LogicalType::TIME));
	EXPECT_TRUE(is_refused(Value::BIGINT(-1), LogicalType::TIME_NS));
	EXPECT_TRUE(is_refused(Value::UBIGINT(~uint64_t(0)), LogicalType::TIME_TZ));
	EXPECT_TRUE(is_refused(Value::BLOB("\\xFF\\xFF"), LogicalType::VARCHAR));
	EXPECT_FALSE(is_refused(Value("text"), LogicalType::BLOB));
	EXPECT_TRUE(is_refused(Value::BLOB("\\x09\\xFF"), LogicalType::BIT));
	EXPECT_TRUE(is_refused(Value::BLOB("\\x01"), LogicalType::BIT));
	EXPECT_TRUE(is_refused(Value::BLOB("\\x80\\x00\\x02\\x01"), LogicalType::BIGNUM));
	EXPECT_FALSE(is_refused(Value::BLOB("\\x80\\x00\\x01\\x01"), LogicalType::BIGNUM));
}

} // namespace

} // namespace skein
