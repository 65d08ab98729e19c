// Partitions chunks that look like TPC-H's lineitem into four builders, seals their pages and reads them back; all
// rates are in bytes of sealed pages, so that they compare with the memcpy() of the same bytes.

#include "wire/page_codec.hpp"

#include "duckdb.hpp"

#include <benchmark/benchmark.h>

#include <cstring>
#include <random>

namespace {

using duckdb::DataChunk;
using duckdb::idx_t;
using duckdb::SelectionVector;
using skein::PageBuilder;
using skein::PageChecksum;
using skein::PageReader;
using skein::PreparedChunk;
using skein::SharedBytes;

constexpr idx_t PARTITIONS = 4;
constexpr idx_t PAGE_BYTES = 1 << 20;

const char *const LINEITEM = R"(
	SELECT i // 4 AS l_orderkey, (i % 50)::DECIMAL(15, 2) AS l_quantity, (i * 7 % 100000)::DECIMAL(15, 2) AS l_price,
	       '1992-01-01'::DATE + (i % 2500)::INTEGER AS l_shipdate,
	       ['TRUCK', 'MAIL', 'REG AIR', 'SHIP'][1 + i % 4] AS l_shipmode,
	       left('carefully final deposits detect slyly agai', 10 + (hash(i) % 33)::BIGINT) AS l_comment
	FROM range(262144) t(i))";

const char *const NUMBERS = "SELECT i, i * 2, i::INTEGER, (i % 100)::DECIMAL(15, 2) FROM range(262144) t(i)";

const char *const NULLABLE = "SELECT nullif(i % 10, 3), nullif(i::INTEGER % 2, 1) FROM range(262144) t(i)";

//! 128 chunks of rows, and for each the rows of each partition.
struct Input {
	explicit Input(const char *sql) : database(nullptr), connection(database), result(connection.Query(sql)) {
		if (result->HasError()) {
			result->ThrowError();
		}
		std::mt19937 random(1);
		while (auto chunk = result->Fetch()) {
			std::vector<std::vector<duckdb::sel_t>> partitions(PARTITIONS);
			for (idx_t row = 0; row < chunk->size(); row++) {
				partitions[random() % PARTITIONS].push_back(row);
			}
			chunks.push_back(std::move(chunk));
			selections.push_back(std::move(partitions));
		}
	}

	duckdb::DuckDB database;
	duckdb::Connection connection;
	duckdb::unique_ptr<duckdb::MaterializedQueryResult> result;
	std::vector<duckdb::unique_ptr<DataChunk>> chunks;
	std::vector<std::vector<std::vector<duckdb::sel_t>>> selections;
};

//! Partitions all chunks; `on_full` gets each builder that is to be sealed.
template <class ON_FULL>
void Partition(Input &input, PreparedChunk &prepared, std::vector<PageBuilder> &builders, ON_FULL &&on_full) {
	for (idx_t i = 0; i < input.chunks.size(); i++) {
		prepared.Prepare(*input.chunks[i]);
		for (idx_t partition = 0; partition < PARTITIONS; partition++) {
			auto &rows = input.selections[i][partition];
			builders[partition].Append(prepared, SelectionVector(rows.data()), 0, rows.size());
			if (builders[partition].IsFull(PAGE_BYTES)) {
				on_full(builders[partition]);
			}
		}
	}
	for (auto &builder : builders) {
		on_full(builder);
	}
}

std::vector<PageBuilder> MakeBuilders(Input &input) {
	std::vector<PageBuilder> builders;
	for (idx_t partition = 0; partition < PARTITIONS; partition++) {
		builders.emplace_back(duckdb::Allocator::DefaultAllocator(), input.result->types);
	}
	return builders;
}

std::vector<SharedBytes> MakePages(Input &input, PageChecksum checksum) {
	std::vector<SharedBytes> pages;
	auto builders = MakeBuilders(input);
	PreparedChunk prepared(input.result->types);
	Partition(input, prepared, builders, [&](PageBuilder &builder) {
		const auto size = builder.SealedSize();
		std::shared_ptr<uint8_t[]> memory(new uint8_t[size]);
		builder.Seal(memory.get(), checksum);
		const auto data = memory.get();
		pages.push_back(SharedBytes{std::move(memory), data, size});
	});
	return pages;
}

void BuildPages(benchmark::State &state, const char *sql, PageChecksum checksum) {
	Input input(sql);
	auto builders = MakeBuilders(input);
	PreparedChunk prepared(input.result->types);
	std::vector<uint8_t> target(2 * PAGE_BYTES);
	idx_t bytes = 0;
	for (auto _ : state) {
		Partition(input, prepared, builders, [&](PageBuilder &builder) {
			bytes += builder.SealedSize();
			builder.Seal(target.data(), checksum);
			benchmark::ClobberMemory();
		});
	}
	state.SetBytesProcessed(int64_t(bytes));
}

void ReadPages(benchmark::State &state, const char *sql, PageChecksum checksum) {
	Input input(sql);
	const auto pages = MakePages(input, checksum);
	idx_t bytes = 0;
	DataChunk chunk;
	chunk.InitializeEmpty(input.result->types);
	for (auto _ : state) {
		for (auto &page : pages) {
			PageReader reader(page, input.result->types);
			while (reader.Next(chunk)) {
				benchmark::DoNotOptimize(chunk.data[0].GetData());
			}
			bytes += page.size;
		}
	}
	state.SetBytesProcessed(int64_t(bytes));
}

void CopyPages(benchmark::State &state, const char *sql) {
	Input input(sql);
	const auto pages = MakePages(input, PageChecksum::NONE);
	std::vector<uint8_t> target(2 * PAGE_BYTES);
	idx_t bytes = 0;
	for (auto _ : state) {
		for (auto &page : pages) {
			memcpy(target.data(), page.data, page.size);
			benchmark::ClobberMemory();
			bytes += page.size;
		}
	}
	state.SetBytesProcessed(int64_t(bytes));
}

BENCHMARK_CAPTURE(CopyPages, lineitem, LINEITEM);
BENCHMARK_CAPTURE(BuildPages, lineitem, LINEITEM, PageChecksum::NONE);
BENCHMARK_CAPTURE(BuildPages, lineitem_checksum, LINEITEM, PageChecksum::XXH3);
BENCHMARK_CAPTURE(ReadPages, lineitem, LINEITEM, PageChecksum::NONE);
BENCHMARK_CAPTURE(ReadPages, lineitem_checksum, LINEITEM, PageChecksum::XXH3);
BENCHMARK_CAPTURE(BuildPages, numbers, NUMBERS, PageChecksum::NONE);
BENCHMARK_CAPTURE(ReadPages, numbers, NUMBERS, PageChecksum::NONE);
BENCHMARK_CAPTURE(BuildPages, nullable, NULLABLE, PageChecksum::NONE);
BENCHMARK_CAPTURE(ReadPages, nullable, NULLABLE, PageChecksum::NONE);

} // namespace

BENCHMARK_MAIN();
