#pragma once

#include "coordinator/coordinator.hpp"
#include "extension/settings.hpp"
#include "planner/worker_functions.hpp"
#include "skein/skein.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "worker/local_workers.hpp"

namespace skein {

//! A cluster as a query sees it.
struct Cluster {
	Coordinator *coordinator = nullptr;
	std::vector<std::string> workers;
};

//! What Skein keeps for one DuckDB instance: coordinators, workers inside the process, served workers.
//!
//! Owned by the instance's list of extensions; made by Attach(). Thread-safe. Parts are started when first needed.
class SkeinInstance final : public duckdb::OptimizerExtensionInfo {
public:
	explicit SkeinInstance(duckdb::DatabaseInstance &db);
	~SkeinInstance() override;
	//! Ends everything that is kept, for good: a closed query may have left tasks that still hold pages in the memory
	//! of the DuckDB instance. Called before that goes; no query runs then. Idempotent.
	void Stop();

	//! The workers that the settings name; none if they name none. Throws when an address is malformed or cannot be
	//! resolved.
	Cluster Resolve(const Settings &settings);
	//! What the workers can call.
	std::shared_ptr<const WorkerFunctions> FunctionsOfWorkers();
	//! Makes this process a worker at `address`; returns the address really bound.
	std::string Serve(const std::string &address);

private:
	Coordinator &RemoteCoordinator(const LinkOptions &options);

	duckdb::DatabaseInstance &db_;
	std::mutex mutex_;
	GrpcTransport grpc_;
	//! By connect timeout and keepalive in milliseconds: links are made with them.
	std::map<std::pair<int64_t, int64_t>, std::unique_ptr<Coordinator>> remote_;
	std::unique_ptr<LocalWorkers> local_workers_;
	std::unique_ptr<Coordinator> local_;
	std::vector<std::unique_ptr<Worker>> served_;
	//! Null until it is asked for.
	std::shared_ptr<const WorkerFunctions> worker_functions_;
};

} // namespace skein
