#pragma once

#include "duckdb.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace skein::test {

//! Writes where every thread of this process stands to the error output; nothing where there is no gdb.
void PrintStacks();

//! Ends queries that hang: interrupts one that takes too long, and the whole process if that does not help. Time in
//! which the process is stopped does not count.
class Watchdog {
public:
	explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds(40));
	~Watchdog();

	//! While this object lives, a query is running on `connection`; `what` describes it.
	class Watch {
	public:
		Watch(Watchdog &watchdog, duckdb::Connection &connection, std::string what);
		~Watch();
		//! Whether the query was interrupted.
		bool TimedOut() const;

	private:
		Watchdog &watchdog_;
	};

private:
	void Run();

	const std::chrono::seconds limit_;
	mutable std::mutex mutex_;
	std::condition_variable changed_;
	// Guarded by mutex_.
	duckdb::Connection *connection_ = nullptr;
	std::string what_;
	std::chrono::steady_clock::time_point deadline_;
	bool timed_out_ = false;
	bool stopping_ = false;
	std::thread thread_;
};

} // namespace skein::test
