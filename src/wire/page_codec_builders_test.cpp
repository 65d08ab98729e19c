#include "wire/page_codec_test_support.hpp"

#include <random>

namespace skein {

using duckdb::idx_t;

namespace {

//! Rows partitioned at random over builders that are filled together, and sealed whenever they are full.
void ExpectBuildersRoundTrip(const std::string &sql, idx_t partition_count, idx_t page_bytes, uint32_t seed) {
	SCOPED_TRACE(sql + ", seed " + std::to_string(seed));
	Engine engine;
	auto result = engine.Query(sql);
	std::mt19937 random(seed);
	PreparedChunk prepared(result->types);
	PageBuilders builders(duckdb::Allocator::DefaultAllocator(), result->types, partition_count);
	std::vector<std::vector<Row>> expected(partition_count), actual(partition_count);
	const auto seal = [&](idx_t partition) {
		const auto rows = ReadRows(Seal(builders[partition]), result->types);
		actual[partition].insert(actual[partition].end(), rows.begin(), rows.end());
	};
	while (auto chunk = result->Fetch()) {
		std::vector<uint32_t> partition_of;
		for (idx_t row = 0; row < chunk->size(); row++) {
			partition_of.push_back(random() % partition_count);
			expected[partition_of[row]].push_back(RowOf(*chunk, row));
		}
		std::vector<duckdb::sel_t> rows;
		std::vector<idx_t> offsets{0};
		for (idx_t partition = 0; partition < partition_count; partition++) {
			for (idx_t row = 0; row < chunk->size(); row++) {
				if (partition_of[row] == partition) {
					rows.push_back(row);
				}
			}
			offsets.push_back(rows.size());
		}
		prepared.Prepare(*chunk);
		builders.Append(prepared, {rows.data(), offsets.data(), partition_of.data()});
		for (idx_t partition = 0; partition < partition_count; partition++) {
			if (builders[partition].IsFull(page_bytes)) {
				EXPECT_GE(builders[partition].SealedSize(), page_bytes);
				seal(partition);
			}
			EXPECT_LT(builders[partition].SealedSize(), page_bytes);
		}
	}
	for (idx_t partition = 0; partition < partition_count; partition++) {
		seal(partition);
		ExpectSameRows(actual[partition], expected[partition]);
	}
}

TEST(PageBuilders, RowsOfEveryType) {
	for (uint32_t seed = 0; seed < 3; seed++) {
		ExpectBuildersRoundTrip("SELECT t.* FROM test_all_types() t, range(700) ORDER BY hash(range)", 1 + seed * 50,
								100000, seed);
	}
}

TEST(PageBuilders, RowsOfValuesOfConstantSize) {
	ExpectBuildersRoundTrip(
		"SELECT i, (i % 2)::BOOLEAN, i::SMALLINT, DATE '2000-01-01' + i::INTEGER, i::HUGEINT, 42, NULL::BIGINT, "
		"CASE WHEN i % 3000 > 2500 THEN i END FROM range(30000) t(i)",
		7, 20000, 4);
	ExpectBuildersRoundTrip("SELECT i::INTEGER, i * 2 FROM range(10000) t(i)", 300, 256, 5);
}

} // namespace

} // namespace skein
