#pragma once

#include "log_writer.hpp"

#include "skein/worker_event.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace skein::cli {

//! A worker's log: one JSON object a line, with the query, the stage and the task that it is about.
//!
//! Thread-safe. Write() never waits for the file: see LogWriter for what happens to lines that it cannot take. That it
//! takes none is said on stderr.
class WorkerLog {
public:
	//! Appends to a file, or writes to stderr if it is `-`. Throws CommandError when the file cannot be written.
	explicit WorkerLog(const std::string &path);
	~WorkerLog();

	//! `worker`: its address, known once it listens.
	void SetWorker(const std::string &worker);
	void Write(const WorkerEvent &event);
	//! Writes what waits, as far as that takes a second at most; what comes later is dropped. Idempotent, in one
	//! thread.
	void Stop();

private:
	//! Of which lines are made; in time's order, so `writer_` gets them under its mutex.
	struct Heading {
		std::mutex mutex;
		std::string worker;
	};

	const std::string path_;
	//! Shared with the writer's thread.
	const std::shared_ptr<Heading> heading_ = std::make_shared<Heading>();
	std::optional<LogWriter> writer_;
	bool stopped_ = false;
};

//! Says `skein: MESSAGE` on stderr, unless that is a pipe that nobody reads and is full.
void SayOnStderr(const std::string &message);

//! The line of an event, without its end. `time`: of day.
std::string LogLine(const WorkerEvent &event, const std::string &worker, std::chrono::system_clock::time_point time);

} // namespace skein::cli
