#pragma once

#include "coordinator/coordinator.hpp"
#include "engine/footer_cache.hpp"
#include "extension/settings.hpp"
#include "extension/trace_exporter.hpp"
#include "planner/worker_functions.hpp"
#include "skein/skein.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "worker/local_workers.hpp"

namespace skein {

//! A cluster as a query sees it.
struct Cluster {
	Coordinator *coordinator = nullptr;
	//! Their addresses.
	std::vector<std::string> workers;
	//! The same workers, with what is known of them.
	std::vector<WorkerInfo> described;
};

//! What Skein keeps for one DuckDB instance: coordinators, workers inside the process, served workers.
//!
//! Owned by the instance's list of extensions; made by Attach(). Thread-safe. Parts are started when first needed.
class SkeinInstance final : public duckdb::OptimizerExtensionInfo {
public:
	SkeinInstance(duckdb::DatabaseInstance &db, AttachOptions options);
	~SkeinInstance() override;
	//! Ends everything that is kept, for good: a closed query may have left tasks that still hold pages in the memory
	//! of the DuckDB instance. Called before that goes; no query runs then. Idempotent.
	void Stop();

	//! The workers that the settings name, or else the resolver; none if there are none. Throws when an address is
	//! malformed or cannot be resolved.
	Cluster Resolve(const Settings &settings);
	//! What is kept of the footers of files.
	const std::shared_ptr<FooterCache> &Footers() const {
		return footers_;
	}
	//! Whether there may be workers with these settings.
	bool MayHaveWorkers(const Settings &settings) const;
	//! Whether its workers, if there are any with these settings, run inside this process.
	bool HasLocalWorkers(const Settings &settings) const;
	const std::vector<std::shared_ptr<const TaskEstimator>> &Estimators() const {
		return options_.estimators;
	}
	//! What the workers can call.
	std::shared_ptr<const WorkerFunctions> FunctionsOfWorkers();
	//! Why not every worker of the cluster has an extension of DuckDB; empty if all have it. Asks them.
	std::string ReasonAgainstExtension(const Cluster &cluster, const Settings &settings, const std::string &extension);
	//! What sends the traces of queries.
	std::shared_ptr<TraceExporter> Traces();
	//! Makes this process a worker at `address`; returns the address really bound.
	std::string Serve(const std::string &address);

private:
	//! The workers that Resolve() finds, without their descriptions.
	Cluster Find(const Settings &settings);
	Coordinator &RemoteCoordinator(const LinkOptions &options);

	duckdb::DatabaseInstance &db_;
	const AttachOptions options_;
	const std::shared_ptr<FooterCache> footers_;
	std::mutex mutex_;
	GrpcTransport grpc_;
	//! By connect timeout and keepalive in milliseconds: links are made with them.
	std::map<std::pair<int64_t, int64_t>, std::unique_ptr<Coordinator>> remote_;
	std::unique_ptr<LocalWorkers> local_workers_;
	std::unique_ptr<Coordinator> local_;
	std::vector<std::unique_ptr<Worker>> served_;
	const std::shared_ptr<TraceExporter> traces_;
	//! Null until it is asked for.
	std::shared_ptr<const WorkerFunctions> worker_functions_;
};

} // namespace skein
