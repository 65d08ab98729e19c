#pragma once

#include "transport/in_process/in_process_transport.hpp"
#include "worker/temp_folder.hpp"
#include "worker/worker_service.hpp"

namespace skein {

//! Adds what its plans need to an instance that runs tasks; may be empty.
using SetUpWorker = std::function<void(duckdb::DatabaseInstance &)>;

//! A DuckDB instance that runs tasks and nothing else: all its threads take tasks, none waits for a client.
//! Empty strings and 0 leave DuckDB's defaults.
duckdb::unique_ptr<duckdb::DuckDB> MakeWorkerInstance(size_t threads, const std::string &memory_limit,
													  const std::string &temp_directory, const SetUpWorker &set_up);

//! Makes the plans that travel between nodes readable and executable on `db`. Idempotent.
void RegisterTravelling(duckdb::DatabaseInstance &db);

//! Workers inside this process: they share one DuckDB instance, its threads and its memory limit. With little memory
//! each of them runs one task at a time.
//!
//! Owned by the session's instance. Thread-safe.
class LocalWorkers {
public:
	LocalWorkers(size_t threads, duckdb::idx_t memory_limit, const SetUpWorker &set_up);
	~LocalWorkers();

	//! The addresses of `count` workers on Transport(); starts those that are missing.
	std::vector<std::string> Addresses(size_t count);
	//! Of all of them together, in bytes. Throws OutOfMemoryException if they hold more and cannot free it.
	void SetMemoryLimit(duckdb::idx_t limit);
	InProcessTransport &GetTransport() {
		return transport_;
	}
	void Stop();

private:
	const TempFolder temp_folder_;
	duckdb::unique_ptr<duckdb::DuckDB> db_;
	const size_t slots_;
	InProcessTransport transport_;
	TaskWatcher watcher_;
	std::mutex mutex_;
	std::vector<std::unique_ptr<WorkerService>> services_;
	std::vector<std::string> addresses_;
};

} // namespace skein
