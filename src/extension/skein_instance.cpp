#include "extension/skein_instance.hpp"

#include "coordinator/worker_resolver.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "engine/database_files.hpp"

#include <thread>

namespace skein {

using namespace duckdb;

namespace {

//! What is kept of footers: 100,000 files of one row group and 16 columns take about 230 MB. It is no part of DuckDB's
//! memory, so of a small memory limit only a small share.
idx_t FooterCacheBytes(DatabaseInstance &db) {
	return std::min(idx_t(256) << 20, BufferManager::GetBufferManager(db).GetMaxMemory() / 16);
}

} // namespace

SkeinInstance::SkeinInstance(DatabaseInstance &db, AttachOptions options)
	: db_(db), options_(std::move(options)), footers_(std::make_shared<FooterCache>(FooterCacheBytes(db))),
	  traces_(std::make_shared<TraceExporter>(db)) {
}

SkeinInstance::~SkeinInstance() {
	Stop();
}

void SkeinInstance::Stop() {
	// It waits for what runs of coordinators report.
	traces_->Stop();
	// Coordinators first: they hold links to the workers.
	local_.reset();
	remote_.clear();
	if (local_workers_) {
		local_workers_->Stop();
	}
	served_.clear();
}

Coordinator &SkeinInstance::RemoteCoordinator(const LinkOptions &options) {
	auto &coordinator = remote_[{options.connect_timeout.count(), options.keepalive.count()}];
	if (!coordinator) {
		auto &transport = options_.transport ? *options_.transport : grpc_;
		coordinator = std::make_unique<Coordinator>(transport, options);
	}
	return *coordinator;
}

bool SkeinInstance::MayHaveWorkers(const Settings &settings) const {
	return settings.mode == Mode::FORCE || !settings.cluster.empty() || settings.workers > 0 || options_.resolver;
}

bool SkeinInstance::HasLocalWorkers(const Settings &settings) const {
	return settings.cluster.empty() && (settings.workers > 0 || !options_.resolver);
}

Cluster SkeinInstance::Resolve(const Settings &settings) {
	if (settings.cluster.empty() && !HasLocalWorkers(settings)) {
		Cluster result;
		for (auto &worker : options_.resolver->Resolve()) {
			auto addresses = ResolveWorkers(worker.address);
			result.workers.insert(result.workers.end(), addresses.begin(), addresses.end());
			for (auto &address : addresses) {
				result.described.push_back({address, worker.labels});
			}
		}
		std::lock_guard<std::mutex> guard(mutex_);
		result.coordinator = result.workers.empty() ? nullptr : &RemoteCoordinator(settings.link);
		return result;
	}
	auto result = Find(settings);
	for (auto &address : result.workers) {
		result.described.push_back({address, {}});
	}
	return result;
}

Cluster SkeinInstance::Find(const Settings &settings) {
	Cluster result;
	if (!settings.cluster.empty()) {
		result.workers = ResolveWorkers(settings.cluster);
		std::lock_guard<std::mutex> guard(mutex_);
		result.coordinator = &RemoteCoordinator(settings.link);
		return result;
	}
	auto count = settings.workers;
	if (count == 0 && settings.mode == Mode::FORCE) {
		count = std::max(2U, std::thread::hardware_concurrency() / 2);
	}
	if (count == 0) {
		return result;
	}
	// On top of what the session's own instance may use.
	auto limit = BufferManager::GetBufferManager(db_).GetMaxMemory() / 2;
	std::lock_guard<std::mutex> guard(mutex_);
	if (!local_workers_) {
		auto threads = static_cast<size_t>(TaskScheduler::GetScheduler(db_).NumberOfThreads());
		local_workers_ = std::make_unique<LocalWorkers>(threads, limit, options_.set_up_workers);
		local_ = std::make_unique<Coordinator>(local_workers_->GetTransport(), LinkOptions());
	}
	local_workers_->SetMemoryLimit(limit);
	result.workers = local_workers_->Addresses(count);
	result.coordinator = local_.get();
	return result;
}

std::shared_ptr<const WorkerFunctions> SkeinInstance::FunctionsOfWorkers() {
	std::lock_guard<std::mutex> guard(mutex_);
	if (!worker_functions_) {
		DuckDB plain(nullptr);
		Attach(*plain.instance);
		if (options_.set_up_workers) {
			options_.set_up_workers(*plain.instance);
		}
		worker_functions_ = WorkerFunctions::List(*plain.instance);
	}
	return worker_functions_;
}

string SkeinInstance::ReasonAgainstExtension(const Cluster &cluster, const Settings &settings,
											 const string &extension) {
	for (auto &worker : cluster.coordinator->AskStatus(cluster.workers, settings.link.connect_timeout)) {
		if (!worker.has_answered) {
			return "and worker " + worker.address + " does not say whether it has it: " + worker.reason;
		}
		auto &loaded = worker.status.extensions;
		if (std::find(loaded.begin(), loaded.end(), extension) == loaded.end()) {
			return "which worker " + worker.address + " has not loaded";
		}
	}
	return "";
}

std::shared_ptr<TraceExporter> SkeinInstance::Traces() {
	return traces_;
}

string SkeinInstance::Serve(const string &address) {
	WorkerOptions options;
	options.listen = address;
	// The session may have the same files attached.
	options.set_up = DatabaseFiles::KeepOpen;
	auto worker = Worker::Start(options);
	auto bound = worker->Address();
	std::lock_guard<std::mutex> guard(mutex_);
	served_.push_back(std::move(worker));
	return bound;
}

} // namespace skein
