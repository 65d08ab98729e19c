// Plans a scan of many files of which everything is known: how long it takes to find the units, deal them to 8 tasks
// and write the tasks' plans, and how many bytes these plans have. No file but the first is opened, once the footers
// are known; how long it takes to read them is said beside.

#include "engine/fake_worker.hpp"
#include "engine/footer_cache.hpp"
#include "engine/parquet_slice.hpp"
#include "engine/plan_serializer.hpp"
#include "engine/text_slice.hpp"
#include "planner/leaf/parquet_leaf.hpp"
#include "planner/leaf/text_leaf.hpp"

#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace {

using duckdb::idx_t;
using skein::ScanLeaf;
namespace fs = std::filesystem;

constexpr size_t TASKS = 8;
constexpr idx_t FILE_BYTES = 10000000;

//! A folder with one file of each format, which stands for all others.
class Folder {
public:
	Folder() : path_(fs::temp_directory_path() / ("skein_planning_bench_" + std::to_string(getpid()))) {
		fs::create_directories(path_);
		duckdb::DuckDB database(nullptr);
		duckdb::Connection connection(database);
		for (auto format : {"parquet", "csv"}) {
			auto result =
				connection.Query("COPY (SELECT i AS k, i * 2 AS v, 'name ' || i AS s FROM range(100) t(i)) TO '" +
								 (path_ / (std::string("first.") + format)).string() + "' (FORMAT " + format + ")");
			if (result->HasError()) {
				result->ThrowError();
			}
		}
	}
	~Folder() {
		fs::remove_all(path_);
	}
	//! Makes `count` Parquet files that are nearly free: a file has at most so many links.
	void LinkParquetFiles(idx_t count) {
		constexpr idx_t LINKS = 30000;
		fs::create_directories(path_ / "year=2024");
		auto original = path_ / "original";
		for (idx_t i = 0; i < count; i++) {
			if (i % LINKS == 0) {
				fs::remove(original);
				fs::copy_file(First("parquet"), original);
				// What has just been written is read again by every query.
				fs::last_write_time(original, fs::last_write_time(original) - std::chrono::hours(1));
			}
			fs::create_hard_link(original, File(i, "parquet"));
		}
	}
	std::string AllParquet() const {
		return (path_ / "year=2024/*.parquet").string();
	}
	std::string File(idx_t number, const std::string &format) const {
		return (path_ / duckdb::StringUtil::Format("year=2024/part-%06llu.%s", number, format)).string();
	}
	std::string First(const std::string &format) const {
		return (path_ / ("first." + format)).string();
	}

private:
	fs::path path_;
};

duckdb::LogicalGet &FindScan(duckdb::LogicalOperator &plan) {
	return plan.type == duckdb::LogicalOperatorType::LOGICAL_GET ? plan.Cast<duckdb::LogicalGet>()
																 : FindScan(*plan.children[0]);
}

//! Deals the units of `leaf` and writes the plans of all tasks. Returns their bytes.
size_t WritePlans(duckdb::ClientContext &context, const duckdb::LogicalGet &get, const ScanLeaf &leaf) {
	size_t bytes = 0;
	for (auto &units : DealUnits(leaf.units, TASKS)) {
		auto variant = leaf.MakeVariant(context, get, units);
		benchmark::DoNotOptimize(leaf.Describe(units, 16));
		bytes += skein::SerializePlan(context, *variant).size();
	}
	return bytes;
}

void Report(benchmark::State &state, size_t bytes) {
	auto files = static_cast<double>(state.range(0));
	state.counters["plan_bytes"] = static_cast<double>(bytes);
	state.counters["plan_bytes_per_file"] = static_cast<double>(bytes) / files;
	state.counters["ns_per_file"] =
		benchmark::Counter(files * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

//! Real files, which are links to the first: all footers are known, as they are once a query has read the folder.
class ReadFolder {
public:
	explicit ReadFolder(idx_t count) : count_(count), database_(nullptr), connection_(database_) {
		folder_.LinkParquetFiles(count);
		skein::RegisterParquetSlice(*database_.instance);
		auto start = std::chrono::steady_clock::now();
		WithScan([&](auto &context, auto &get) { Analyze(context, get); });
		std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
		reading_ms_ = took.count();
	}
	//! Calls `use` with a context and the scan of all files.
	template <class USE>
	void WithScan(USE use) {
		skein::WithOptimizedPlan(connection_, "SELECT k, s FROM '" + folder_.AllParquet() + "'",
								 [&](auto &context, auto &plan) { use(context, FindScan(*plan)); });
	}
	std::shared_ptr<const ScanLeaf> Analyze(duckdb::ClientContext &context, duckdb::LogicalGet &get) {
		std::string reason;
		auto leaf = skein::AnalyzeScan(context, get, reason, &footers_);
		if (!leaf || leaf->units.size() != count_) {
			throw std::runtime_error("not all files are there: " + reason);
		}
		return leaf;
	}
	idx_t Count() const {
		return count_;
	}
	skein::FooterCache::Numbers Footers() {
		return footers_.Read();
	}
	double ReadingMilliseconds() const {
		return reading_ms_;
	}

private:
	const idx_t count_;
	Folder folder_;
	duckdb::DuckDB database_;
	duckdb::Connection connection_;
	skein::FooterCache footers_{idx_t(1) << 30};
	double reading_ms_ = 0;
};

void PlanParquet(benchmark::State &state) {
	// Reading takes longer than planning; a benchmark is called several times.
	static std::unique_ptr<ReadFolder> folder;
	auto count = static_cast<idx_t>(state.range(0));
	if (!folder || folder->Count() != count) {
		folder.reset();
		folder = std::make_unique<ReadFolder>(count);
	}
	folder->WithScan([&](auto &context, auto &get) {
		size_t bytes = 0;
		for (auto _ : state) {
			bytes = WritePlans(context, get, *folder->Analyze(context, get));
		}
		if (folder->Footers().added + 1 != count) {
			throw std::runtime_error("footers were read more than once");
		}
		Report(state, bytes);
		state.counters["reading_footers_ms"] = folder->ReadingMilliseconds();
		state.counters["kept_bytes_per_file"] =
			static_cast<double>(folder->Footers().bytes) / static_cast<double>(count);
	});
}

//! The list says sizes and times, as a glob's does.
void PlanCsv(benchmark::State &state) {
	Folder folder;
	duckdb::DuckDB database(nullptr);
	skein::RegisterTextSlices(*database.instance);
	duckdb::Connection connection(database);
	auto sql = "SELECT k, s FROM '" + folder.First("csv") + "'";
	skein::WithOptimizedPlan(connection, sql, [&](auto &context, auto &plan) {
		auto &get = FindScan(*plan);
		duckdb::vector<duckdb::OpenFileInfo> files;
		for (idx_t i = 0; i < static_cast<idx_t>(state.range(0)); i++) {
			duckdb::OpenFileInfo file(folder.File(i, "csv"));
			file.extended_info = duckdb::make_shared_ptr<duckdb::ExtendedOpenFileInfo>();
			auto &options = file.extended_info->options;
			options["type"] = duckdb::Value("file");
			options["file_size"] = duckdb::Value::BIGINT(static_cast<int64_t>(FILE_BYTES + i % 1000));
			options["last_modified"] =
				duckdb::Value::TIMESTAMP(duckdb::timestamp_t(1700000000000000 + static_cast<int64_t>(i) * 1000000));
			files.push_back(std::move(file));
		}
		auto &bind_data = get.bind_data->template Cast<duckdb::MultiFileBindData>();
		bind_data.file_list = duckdb::make_shared_ptr<duckdb::SimpleMultiFileList>(std::move(files));
		size_t bytes = 0;
		for (auto _ : state) {
			std::string reason;
			auto leaf = skein::AnalyzeScan(context, get, reason);
			if (!leaf) {
				throw std::runtime_error(reason);
			}
			bytes = WritePlans(context, get, *leaf);
		}
		Report(state, bytes);
	});
}

//! Time is what a query waits, CPU is that of all threads.
void Sizes(benchmark::internal::Benchmark *plan) {
	plan->Arg(10)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
	plan->UseRealTime()->MeasureProcessCPUTime();
}

BENCHMARK(PlanParquet)->Apply(Sizes);
BENCHMARK(PlanCsv)->Apply(Sizes);

} // namespace

BENCHMARK_MAIN();
