#include "worker/local_workers.hpp"

#include "engine/aggregate_state.hpp"
#include "engine/metadata_slice.hpp"
#include "engine/native_slice.hpp"
#include "engine/parquet_slice.hpp"
#include "engine/task_secrets.hpp"
#include "engine/text_slice.hpp"
#include "exchange/logical_exchange.hpp"

#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/storage/buffer_manager.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Half of what DuckDB recommends. Each thread of each running task has hash tables and buffers of its own: with less
//! memory than this, those of all stages of a large query at once do not fit.
constexpr idx_t LITTLE_MEMORY_PER_THREAD = idx_t(64) << 20;

size_t SlotsFor(DatabaseInstance &db) {
	auto threads = static_cast<idx_t>(TaskScheduler::GetScheduler(db).NumberOfThreads());
	return BufferManager::GetBufferManager(db).GetMaxMemory() < threads * LITTLE_MEMORY_PER_THREAD ? 1 : 0;
}

} // namespace

void RegisterTravelling(DatabaseInstance &db) {
	RegisterExchangeOperators(db);
	RegisterParquetSlice(db);
	RegisterNativeSlice(db);
	RegisterTextSlices(db);
	RegisterMetadataSlice(db);
	RegisterAggregateState(db);
}

unique_ptr<DuckDB> MakeWorkerInstance(size_t threads, const string &memory_limit, const string &temp_directory,
									  const SetUpWorker &set_up) {
	DBConfig config;
	config.SetOptionByName("allow_unsigned_extensions", Value::BOOLEAN(true));
	// No client's thread helps: without this DuckDB would keep one thread less.
	config.SetOptionByName("external_threads", Value::UBIGINT(0));
	if (threads > 0) {
		config.SetOptionByName("threads", Value::BIGINT(static_cast<int64_t>(threads)));
	}
	if (!memory_limit.empty()) {
		config.SetOptionByName("memory_limit", Value(memory_limit));
	}
	config.SetOptionByName("temp_directory", Value(temp_directory));
	auto db = make_uniq<DuckDB>(nullptr, &config);
	RegisterTravelling(*db->instance);
	RegisterTaskSecrets(*db->instance);
	if (set_up) {
		set_up(*db->instance);
	}
	return db;
}

LocalWorkers::LocalWorkers(size_t threads, idx_t memory_limit, const SetUpWorker &set_up)
	: temp_folder_(""),
	  db_(MakeWorkerInstance(threads, std::to_string(memory_limit) + "B", temp_folder_.Path(), set_up)),
	  slots_(SlotsFor(*db_->instance)) {
	DatabaseFiles::KeepOpen(*db_->instance);
}

LocalWorkers::~LocalWorkers() {
	Stop();
}

void LocalWorkers::SetMemoryLimit(idx_t limit) {
	auto &buffers = BufferManager::GetBufferManager(*db_->instance);
	if (buffers.GetMaxMemory() != limit) {
		buffers.SetMemoryLimit(limit);
	}
}

void LocalWorkers::Stop() {
	std::lock_guard<std::mutex> guard(mutex_);
	for (auto &service : services_) {
		service->Stop(std::chrono::milliseconds(0));
		service->WaitIdle();
	}
	services_.clear();
	addresses_.clear();
	watcher_.Stop();
}

std::vector<string> LocalWorkers::Addresses(size_t count) {
	std::lock_guard<std::mutex> guard(mutex_);
	while (services_.size() < count) {
		auto name = "local-" + std::to_string(services_.size() + 1);
		services_.push_back(
			std::make_unique<WorkerService>(*db_->instance, watcher_, transport_, name, LinkOptions(), slots_));
		services_.back()->GetNode().Listen(name);
		addresses_.push_back(name);
	}
	return {addresses_.begin(), addresses_.begin() + static_cast<std::ptrdiff_t>(count)};
}

} // namespace skein
