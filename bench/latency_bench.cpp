//! What distribution costs a query that has next to nothing to do: a warm cluster of 4 worker processes, 1, 8 and 32
//! clients in this process, each with a connection of its own. Milliseconds of single queries.

#include "skein/skein.hpp"
#include "test/support/worker_processes.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr size_t WORKERS = 4;
constexpr size_t QUERIES = 1024;
constexpr size_t WARM_UP = 20;

void Execute(duckdb::Connection &connection, const std::string &sql, size_t rows) {
	auto result = connection.Query(sql);
	if (result->HasError()) {
		result->ThrowError();
	}
	if (result->RowCount() != rows) {
		throw duckdb::InternalException("%llu rows instead of %llu: %s", result->RowCount(), rows, sql);
	}
}

//! A small table in as many files as there are workers, and an engine whose queries are distributed.
class Cluster {
public:
	explicit Cluster(const std::string &skein)
		: workers_(skein, WORKERS),
		  folder_(fs::temp_directory_path() / ("skein_latency_bench_" + std::to_string(getpid()))) {
		fs::create_directories(folder_);
		skein::Attach(*database_.instance);
		duckdb::Connection connection(database_);
		for (size_t i = 0; i < WORKERS; i++) {
			auto file = (folder_ / (std::to_string(i) + ".parquet")).string();
			connection.Query(
				"COPY (SELECT range AS n_nationkey, range % 5 AS n_regionkey, 'nation ' || range AS n_name "
				"FROM range(25)) TO '" +
				file + "'");
		}
	}
	~Cluster() {
		fs::remove_all(folder_);
	}
	std::unique_ptr<duckdb::Connection> Connect() {
		auto result = std::make_unique<duckdb::Connection>(database_);
		result->Query("SET skein_cluster = '" + workers_.AddressList() + "'");
		result->Query("SET skein_mode = 'force'");
		return result;
	}
	std::string Nation() const {
		return "'" + (folder_ / "*.parquet").string() + "'";
	}

private:
	skein::test::WorkerProcesses workers_;
	const fs::path folder_;
	duckdb::DuckDB database_{nullptr};
};

struct Query {
	const char *name;
	std::string sql;
	size_t rows;
};

//! The times of `count` runs, one after the other.
std::vector<double> Measure(duckdb::Connection &connection, const Query &query, size_t count) {
	std::vector<double> times;
	for (size_t i = 0; i < count; i++) {
		auto begin = std::chrono::steady_clock::now();
		Execute(connection, query.sql, query.rows);
		auto time = std::chrono::steady_clock::now() - begin;
		times.push_back(std::chrono::duration<double, std::milli>(time).count());
	}
	return times;
}

void RunClients(benchmark::State &state, Cluster &cluster, const Query &query, size_t clients) {
	std::vector<std::unique_ptr<duckdb::Connection>> connections;
	for (size_t i = 0; i < clients; i++) {
		connections.push_back(cluster.Connect());
		Measure(*connections.back(), query, WARM_UP);
	}
	auto distributed = connections[0]->Query("SELECT distributed FROM skein_last_query()")->GetValue(0, 0);
	if (!distributed.GetValue<bool>()) {
		state.SkipWithError("the query was not distributed");
		return;
	}
	std::mutex mutex;
	std::vector<double> times;
	for (auto _ : state) {
		std::vector<std::thread> threads;
		for (auto &connection : connections) {
			threads.emplace_back([&]() {
				auto own = Measure(*connection, query, QUERIES / clients);
				std::lock_guard<std::mutex> guard(mutex);
				times.insert(times.end(), own.begin(), own.end());
			});
		}
		for (auto &thread : threads) {
			thread.join();
		}
	}
	std::sort(times.begin(), times.end());
	state.counters["p50_ms"] = times[times.size() / 2];
	state.counters["p99_ms"] = times[times.size() * 99 / 100];
	state.counters["queries_per_s"] =
		benchmark::Counter(static_cast<double>(times.size()), benchmark::Counter::kIsRate);
}

} // namespace

int main(int argc, char **argv) {
	auto program = fs::path(argv[0]).parent_path() / "../../skein";
	Cluster cluster(program.string());
	const Query queries[] = {{"scan", "SELECT 1 FROM " + cluster.Nation(), 25 * WORKERS},
							 {"group", "SELECT n_regionkey, count(*) FROM " + cluster.Nation() + " GROUP BY 1", 5}};
	for (auto &query : queries) {
		for (size_t clients : {1, 8, 32}) {
			auto name = std::string(query.name) + "/clients:" + std::to_string(clients);
			auto run = [&cluster, &query, clients](benchmark::State &state) {
				RunClients(state, cluster, query, clients);
			};
			benchmark::RegisterBenchmark(name.c_str(), run)
				->Iterations(1)
				->UseRealTime()
				->Unit(benchmark::kMillisecond);
		}
	}
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
		return 1;
	}
	benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
}
