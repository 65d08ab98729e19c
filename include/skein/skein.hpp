#pragma once

#include "duckdb.hpp"
#include "skein/running_task.hpp"
#include "skein/task_estimator.hpp"
#include "skein/worker_event.hpp"
#include "skein/worker_resolver.hpp"
#include "skein/worker_status.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace skein {

//! Makes links between nodes: src/transport/transport.hpp.
class Transport;

//! What a program adds to Skein.
struct AttachOptions {
	//! Asked about every leaf, in this order, before the built-in ones.
	std::vector<std::shared_ptr<const TaskEstimator>> estimators;
	//! nullptr: only the settings name workers.
	std::shared_ptr<const WorkerResolver> resolver;
	//! Registers what the variants of own leaves call, on the instance of the workers inside this process. Workers of
	//! other processes have WorkerOptions::set_up.
	std::function<void(duckdb::DatabaseInstance &)> set_up_workers;
	//! Makes the links to the workers that settings or the resolver name, shared with the database; nullptr: gRPC.
	//! Workers in this process that get pages by it as they are, without a copy, have to stop before the database
	//! closes.
	std::shared_ptr<Transport> transport;
};

//! Makes every connection of `db` able to distribute its queries: settings `skein_*`, table functions, EXPLAIN.
//! `LOAD skein` calls it. Calling it twice on one instance does nothing the second time. Thread-safe.
void Attach(duckdb::DatabaseInstance &db);
//! The same with additions. Throws duckdb::InvalidInputException if `db` has Skein already.
void Attach(duckdb::DatabaseInstance &db, AttachOptions options);

struct WorkerOptions {
	//! `host:port`; port 0 picks a free one.
	std::string listen = "127.0.0.1:0";
	//! Threads that run tasks; 0: one per core.
	size_t threads = 0;
	//! As DuckDB's `memory_limit`; empty: DuckDB's default.
	std::string memory_limit;
	//! Where what does not fit into memory is written, in a folder that is the worker's own and goes with it, or with
	//! the next worker there if it was killed. Empty: the system's temporary folder.
	std::string temp_directory;
	//! Most tasks that run at a time; others wait. 0: no limit.
	size_t slots = 0;
	//! Called before the first task, with the instance that runs tasks: registers functions, loads extensions.
	std::function<void(duckdb::DatabaseInstance &)> set_up;
	//! Hears of what happens, on any thread, several at a time; must not throw nor wait. Empty: nobody does.
	std::function<void(const WorkerEvent &)> on_event;
};

//! A process's worker: accepts tasks of any coordinator that reaches its address.
//!
//! Owned by the caller; destroying it stops it.
class Worker {
public:
	virtual ~Worker() = default;
	//! Starts to listen. Throws duckdb::IOException when the address cannot be used.
	static std::unique_ptr<Worker> Start(const WorkerOptions &options);
	//! The address that coordinators dial, with the port really bound.
	virtual const std::string &Address() const = 0;
	//! What it does now. Never waits for a query.
	virtual WorkerStatus Status() const = 0;
	//! Accepts no more tasks, gives those that run until `grace` to end, cancels the rest. Idempotent.
	//! Returns false if some had still not ended five seconds after that, as when a function of theirs never looks up;
	//! destroying the worker waits for them.
	virtual bool Stop(std::chrono::milliseconds grace) = 0;
};

//! Skein's own version, as `major.minor.patch`.
std::string Version();

} // namespace skein
