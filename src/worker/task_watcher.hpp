#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace skein {

class WorkerTask;

//! The thread that looks after the running tasks of one DuckDB instance: it notices their end, collects their result or
//! error and carries out cancellations. It sleeps while nothing happens.
//!
//! Owned by whoever owns the DuckDB instance; must be stopped before the instance goes. Thread-safe.
class TaskWatcher {
public:
	TaskWatcher();
	~TaskWatcher();

	//! Something has happened to `task`: its WorkerTask::Check() will run on the watcher's thread.
	void Signal(std::shared_ptr<WorkerTask> task);
	//! Runs what has been signalled, then ends the thread. Idempotent.
	void Stop();

private:
	void Run();

	std::mutex mutex_;
	std::condition_variable changed_;
	std::deque<std::shared_ptr<WorkerTask>> signalled_;
	bool stopping_ = false;
	std::thread thread_;
};

} // namespace skein
