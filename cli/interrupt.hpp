#pragma once

#include "duckdb.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace skein::cli {

//! Turns Ctrl-C into the end of the running query; a second Ctrl-C ends the process at once, with exit code 130.
//!
//! Blocks SIGINT in the calling thread and so in all threads made by it later: create it after the worker processes and
//! before DuckDB. Thread-safe.
class Interrupt {
public:
	Interrupt();
	~Interrupt();

	//! From now on Ctrl-C interrupts this connection, and no other.
	void Watch(duckdb::Connection &connection);
	//! Throws CommandError if there was a Ctrl-C. To be called between queries.
	void Check() const;
	//! Waits; returns true, at once, when there is a Ctrl-C.
	bool WaitFor(std::chrono::milliseconds time);

private:
	void Run();

	std::atomic<bool> interrupted_{false};
	std::atomic<bool> stopping_{false};
	std::mutex mutex_;
	std::condition_variable changed_;
	//! Guarded by mutex_. Shared with the connection, which may end first.
	duckdb::weak_ptr<duckdb::ClientContext> context_;
	std::thread thread_;
};

} // namespace skein::cli
