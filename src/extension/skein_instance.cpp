#include "extension/skein_instance.hpp"

#include "coordinator/worker_resolver.hpp"
#include "duckdb/parallel/task_scheduler.hpp"

#include <thread>

namespace skein {

using namespace duckdb;

SkeinInstance::SkeinInstance(DatabaseInstance &db) : db_(db) {
}

SkeinInstance::~SkeinInstance() {
	Stop();
}

void SkeinInstance::Stop() {
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
		coordinator = std::make_unique<Coordinator>(grpc_, options);
	}
	return *coordinator;
}

Cluster SkeinInstance::Resolve(const Settings &settings) {
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
	std::lock_guard<std::mutex> guard(mutex_);
	if (!local_workers_) {
		auto threads = static_cast<size_t>(TaskScheduler::GetScheduler(db_).NumberOfThreads());
		// On top of what the session's own instance may use.
		auto limit = BufferManager::GetBufferManager(db_).GetMaxMemory() / 2;
		local_workers_ = std::make_unique<LocalWorkers>(threads, std::to_string(limit) + "B");
		local_ = std::make_unique<Coordinator>(local_workers_->GetTransport(), LinkOptions());
	}
	result.workers = local_workers_->Addresses(count);
	result.coordinator = local_.get();
	return result;
}

std::shared_ptr<const WorkerFunctions> SkeinInstance::FunctionsOfWorkers() {
	std::lock_guard<std::mutex> guard(mutex_);
	if (!worker_functions_) {
		DuckDB plain(nullptr);
		Attach(*plain.instance);
		worker_functions_ = WorkerFunctions::List(*plain.instance);
	}
	return worker_functions_;
}

string SkeinInstance::Serve(const string &address) {
	WorkerOptions options;
	options.listen = address;
	auto worker = Worker::Start(options);
	auto bound = worker->Address();
	std::lock_guard<std::mutex> guard(mutex_);
	served_.push_back(std::move(worker));
	return bound;
}

} // namespace skein
