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
		ExpectPartitionsRoundTrip("SELECT t.* FROM test_all_types() t, range(700) ORDER BY hash(range)", 1 + seed * 3,
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

const char *const ALL_KINDS_OF_VECTORS =
	"SELECT t.*, [i, NULL] AS l, {'s': 'some text that is long ' || i} AS s, "
	"CASE WHEN i % 2 = 0 THEN NULL ELSE (i)::UNION(num BIGINT, str VARCHAR) END AS u, 42 AS c "
	"FROM test_all_types() t, range(800) r(i)";

TEST(PageCodecReader, VectorsHashLikeTheirOriginals) {
	Engine engine;
	auto result = engine.Query(ALL_KINDS_OF_VECTORS);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	PreparedChunk prepared(result->types);
	std::vector<duckdb::hash_t> expected;
	std::vector<duckdb::hash_t> actual;
	const auto add_hashes = [](DataChunk &chunk, std::vector<duckdb::hash_t> &hashes) {
		Vector hash(LogicalType::HASH);
		chunk.Hash(hash);
		hash.Flatten(chunk.size());
		const auto values = duckdb::FlatVector::GetData<duckdb::hash_t>(hash);
		hashes.insert(hashes.end(), values, values + chunk.size());
	};
	while (auto chunk = result->Fetch()) {
		add_hashes(*chunk, expected);
		prepared.Prepare(*chunk);
		builder.Append(prepared, ALL_ROWS, 0, chunk->size());
	}
	PageReader reader(Seal(builder), result->types);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	while (reader.Next(chunk)) {
		add_hashes(chunk, actual);
	}
	EXPECT_EQ(actual, expected);
}

TEST(PageCodecReader, VectorsCanBeCollectedSlicedAndFlattened) {
	Engine engine;
	auto result = engine.Query(ALL_KINDS_OF_VECTORS);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	duckdb::ColumnDataCollection collection(duckdb::Allocator::DefaultAllocator(), result->types);
	PageReader reader(Seal(builder), result->types);
	DataChunk chunk;
	chunk.Initialize(duckdb::Allocator::DefaultAllocator(), result->types);
	while (reader.Next(chunk)) {
		const auto first_half = chunk.size() / 2;
		DataChunk second;
		second.InitializeEmpty(result->types);
		for (idx_t column = 0; column < chunk.ColumnCount(); column++) {
			second.data[column].Slice(chunk.data[column], first_half, chunk.size());
		}
		second.SetCardinality(chunk.size() - first_half);
		second.Flatten();
		chunk.SetCardinality(first_half);
		collection.Append(chunk);
		collection.Append(second);
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

TEST(PageCodecReader, ChildOfAStructCanBeConstant) {
	Vector vector(LogicalType::STRUCT({{"number", LogicalType::BIGINT}, {"text", LogicalType::VARCHAR}}));
	auto &children = duckdb::StructVector::GetEntries(vector);
	children[0]->Sequence(0, 1, 2000);
	children[1]->Reference(Value("the same text in all of the rows"));
	std::vector<Row> expected;
	const auto page = PageOf(vector, 2000, expected);
	EXPECT_LT(page.size, 2000 * sizeof(int64_t) + 300);
	ExpectSameRows(ReadRows(page, {vector.GetType()}), expected);

	PageReader reader(page, {vector.GetType()});
	DataChunk chunk;
	chunk.InitializeEmpty({vector.GetType()});
	ASSERT_TRUE(reader.Next(chunk));
	EXPECT_EQ(duckdb::StructVector::GetEntries(chunk.data[0])[1]->GetVectorType(), VectorType::CONSTANT_VECTOR);
	chunk.Flatten();
	for (idx_t row = 0; row < chunk.size(); row++) {
		ExpectSameRows({RowOf(chunk, row)}, {expected[row]});
	}
}

TEST(PageCodecReader, VectorsCanGrow) {
	Engine engine;
	auto result = engine.Query("SELECT i, 'some text that is long ' || i FROM range(1000) t(i)");
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	const auto expected = AppendAll(builder, *result);
	DataChunk chunk;
	chunk.InitializeEmpty(result->types);
	{
		PageReader reader(Seal(builder), result->types);
		ASSERT_TRUE(reader.Next(chunk));
	}
	for (auto &vector : chunk.data) {
		vector.Resize(chunk.size(), 4 * chunk.size());
	}
	for (idx_t row = 0; row < chunk.size(); row++) {
		ExpectSameRows({RowOf(chunk, row)}, {expected[row]});
	}
}

} // namespace

} // namespace skein
