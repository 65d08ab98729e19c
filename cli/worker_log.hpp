#pragma once

#include "skein/worker_event.hpp"

#include <fstream>
#include <mutex>
#include <ostream>
#include <string>

namespace skein::cli {

//! A worker's log: one JSON object a line, with the query, the stage and the task that it is about. Thread-safe.
class WorkerLog {
public:
	//! Appends to a file, or writes to stderr if it is `-`. Throws CommandError when the file cannot be written.
	explicit WorkerLog(const std::string &path);

	//! `worker`: its address, known once it listens.
	void SetWorker(const std::string &worker);
	void Write(const WorkerEvent &event);

private:
	std::mutex mutex_;
	std::string worker_;
	std::ofstream file_;
	std::ostream &out_;
};

//! The line of an event, without its end. `time`: of day.
std::string LogLine(const WorkerEvent &event, const std::string &worker, std::chrono::system_clock::time_point time);

} // namespace skein::cli
