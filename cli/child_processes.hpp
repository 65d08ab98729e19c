#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

namespace skein::cli {

//! How to start one worker process.
struct WorkerLaunch {
	//! `host:port`; port 0 picks a free one.
	std::string listen = "127.0.0.1:0";
	size_t threads = 1;
	//! As DuckDB's `memory_limit`; empty: DuckDB's default.
	std::string memory_limit;
	//! Of DuckDB, by name or path.
	std::vector<std::string> extensions;
};

//! `count` workers that share this machine's cores and its memory between them, all on `listen` with port 0, or on
//! `listen`'s port and those that follow it.
std::vector<WorkerLaunch> ShareMachine(size_t count, const std::string &listen);

//! Worker processes started by this one: `skein worker` from this very executable.
//!
//! They die with this process, however it ends, and are in process groups of their own, so that Ctrl-C at a terminal
//! reaches only this process. Must be created before this process has threads. Not thread-safe.
class ChildProcesses {
public:
	//! Starts the workers and returns once all of them listen. Throws CommandError when one does not; none is left
	//! then.
	explicit ChildProcesses(const std::vector<WorkerLaunch> &launches);
	//! As Stop().
	~ChildProcesses();
	ChildProcesses(const ChildProcesses &) = delete;
	ChildProcesses &operator=(const ChildProcesses &) = delete;

	struct Child {
		pid_t pid = -1;
		//! Becomes readable when the process has ended.
		int end_fd = -1;
		//! What the process prints; kept open, as a process whose output nobody reads would be killed for writing.
		int output_fd = -1;
		std::string address;
		bool running = true;
		//! As of waitpid(), once it runs no more.
		int status = 0;
	};
	const std::vector<Child> &Children() const {
		return children_;
	}
	//! `a:1,b:2,...`
	std::string AddressList() const;

	//! Waits until a child has ended or `signal_fd` is readable. Returns the child, or nullptr for the signal.
	const Child *WaitForEnd(int signal_fd);

	//! Asks all to end and waits for them; kills those that are still there after a bound of some seconds. Idempotent.
	void Stop();

private:
	void Start(const WorkerLaunch &launch);
	void WaitUntilReady(Child &child, std::chrono::steady_clock::time_point deadline);
	//! Returns whether all have ended by `deadline`.
	bool WaitForAll(std::chrono::steady_clock::time_point deadline);
	//! Collects `child`'s status; it must have ended.
	void Reap(Child &child);

	std::vector<Child> children_;
};

//! What happened to a process, for a user: `ended with exit code 1`, `was killed by signal 9 (Killed)`.
std::string DescribeEnd(int status);

} // namespace skein::cli
