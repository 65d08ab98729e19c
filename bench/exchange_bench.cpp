//! What it costs to shuffle a table: real tasks of two nodes, partitioned by a hash, sealed into pages, sent, read.
//!
//! GB are those of sealed pages. CPU seconds are those of both sides together without those of reading the table, which
//! `read` shows beside: `GB_per_cpu_s` says what one core shuffles. Figures are medians of ROUNDS runs.

#include "shuffle.hpp"

#include "benchmark/benchmark.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using skein::bench::CpuSeconds;
using skein::bench::Flow;
using skein::bench::Shuffle;

constexpr int ROUNDS = 5;
constexpr size_t PAGE_BYTES = 1 << 20;
constexpr double GB = 1e9;

struct Table {
	const char *name;
	const char *sql;
};

const Table TABLES[] = {
	{"integers", "SELECT i * 7919 AS k, i AS a, i::INTEGER AS b, (i % 1000)::INTEGER AS c FROM range(10_000_000) t(i)"},
	{"decimals", "SELECT i * 7919 AS k, (i % 100000)::DECIMAL(15, 2) AS a, (i % 97)::DECIMAL(15, 2) AS b, "
				 "i::DECIMAL(30, 4) AS c FROM range(6_000_000) t(i)"},
	{"short_strings", "SELECT i * 7919 AS k, format('{:08d}', i % 99991) AS a, format('{:06d}', i % 977) AS b "
					  "FROM range(6_000_000) t(i)"},
	{"strings_of_20", "SELECT i * 7919 AS k, format('{:020d}', i) AS a, format('{:020d}', i * 31) AS b "
					  "FROM range(3_000_000) t(i)"},
	{"strings_of_200", "SELECT i * 7919 AS k, format('{:0200d}', i) AS a FROM range(1_000_000) t(i)"},
	{"nested", "SELECT i * 7919 AS k, [i, i + 1, i + 2] AS a, {'x': i::INTEGER, 'y': format('{:08d}', i % 9973)} AS b "
			   "FROM range(2_000_000) t(i)"},
	{"nulls",
	 "SELECT i * 7919 AS k, CASE WHEN i % 3 > 0 THEN i END AS a, CASE WHEN i % 7 > 0 THEN i::INTEGER END AS b, "
	 "CASE WHEN i % 2 > 0 THEN i END AS c FROM range(7_000_000) t(i)"},
};

//! The shuffle of one table at a time: what runs next mostly needs the same.
class Shuffles {
public:
	Shuffle &Get(Shuffle::Path path, const Table &table) {
		if (!kept_ || kept_for_ != std::make_pair(path, &table)) {
			kept_.reset();
			kept_ = std::make_unique<Shuffle>(path, table.sql);
			kept_for_ = {path, &table};
		}
		return *kept_;
	}

private:
	std::unique_ptr<Shuffle> kept_;
	std::pair<Shuffle::Path, const Table *> kept_for_;
};

double Median(std::vector<double> values) {
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

template <class GET>
double MedianOf(const std::vector<Flow> &flows, GET get) {
	std::vector<double> values;
	for (auto &flow : flows) {
		values.push_back(get(flow));
	}
	return Median(values);
}

void RunShuffle(benchmark::State &state, Shuffle &shuffle, size_t partitions) {
	for (auto _ : state) {
		shuffle.Run(partitions, PAGE_BYTES);
		std::vector<Flow> flows, reads;
		for (int round = 0; round < ROUNDS; round++) {
			reads.push_back(shuffle.ReadAlone());
			flows.push_back(shuffle.Run(partitions, PAGE_BYTES));
		}
		auto read_cpu = MedianOf(reads, [](auto &it) { return it.cpu_s; });
		auto cpu = MedianOf(flows, [](auto &it) { return it.cpu_s; }) - read_cpu;
		auto wall = MedianOf(flows, [](auto &it) { return it.wall_s; });
		auto bytes = static_cast<double>(flows[0].bytes);
		state.counters["GB_per_cpu_s"] = bytes / GB / cpu;
		state.counters["GB_per_s"] = bytes / GB / wall;
		state.counters["pages_per_s"] = static_cast<double>(flows[0].pages) / wall;
		state.counters["rows_per_cpu_s"] = static_cast<double>(flows[0].rows) / cpu;
		state.counters["GB"] = bytes / GB;
		state.counters["read_GB_per_cpu_s"] = bytes / GB / read_cpu;
		state.SetIterationTime(wall);
	}
}

//! The speed of memory: the bytes of a shuffle, in pages of the same size, copied once.
void CopyMemory(benchmark::State &state) {
	constexpr size_t PAGES = 256;
	std::vector<std::vector<uint8_t>> from(PAGES, std::vector<uint8_t>(PAGE_BYTES, 1));
	std::vector<std::vector<uint8_t>> to(PAGES, std::vector<uint8_t>(PAGE_BYTES, 2));
	auto cpu = CpuSeconds();
	for (auto _ : state) {
		for (size_t i = 0; i < PAGES; i++) {
			memcpy(to[i].data(), from[i].data(), PAGE_BYTES);
			benchmark::ClobberMemory();
		}
	}
	auto bytes = static_cast<double>(static_cast<size_t>(state.iterations()) * PAGES * PAGE_BYTES);
	state.counters["GB_per_cpu_s"] = bytes / GB / (CpuSeconds() - cpu);
}

void Register(Shuffles &shuffles, Shuffle::Path path, const Table &table, size_t partitions) {
	auto name = std::string(path == Shuffle::Path::IN_PROCESS ? "in_process/" : "grpc/") + table.name + "/" +
				std::to_string(partitions);
	auto run = [&shuffles, path, &table, partitions](benchmark::State &state) {
		RunShuffle(state, shuffles.Get(path, table), partitions);
	};
	benchmark::RegisterBenchmark(name.c_str(), run)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

} // namespace

int main(int argc, char **argv) {
	Shuffles shuffles;
	benchmark::RegisterBenchmark("memcpy", CopyMemory)->Unit(benchmark::kMillisecond);
	for (auto path : {Shuffle::Path::IN_PROCESS, Shuffle::Path::GRPC}) {
		for (auto &table : TABLES) {
			auto is_first = &table == &TABLES[0];
			for (size_t partitions :
				 is_first ? std::vector<size_t>{1, 4, 16, 64, 256, 1024} : std::vector<size_t>{4, 256}) {
				Register(shuffles, path, table, partitions);
			}
		}
	}
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
		return 1;
	}
	benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
}
