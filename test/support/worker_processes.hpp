#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace skein::test {

//! Worker processes for a test: `skein worker` on free ports. They end with this process, however it ends.
//! To be created before this process has threads; not thread-safe.
class WorkerProcesses {
public:
	//! Returns once all of them listen; throws std::runtime_error when one does not. `skein` is the command's file.
	WorkerProcesses(const std::string &skein, size_t count);
	~WorkerProcesses();
	WorkerProcesses(const WorkerProcesses &) = delete;
	WorkerProcesses &operator=(const WorkerProcesses &) = delete;

	//! `a:1,b:2,...`
	std::string AddressList() const;

private:
	struct Process {
		pid_t pid;
		int output_fd;
		std::string address;
	};
	void Start(const std::string &skein);
	static std::string ReadLine(int fd);
	void Stop();

	std::vector<Process> processes_;
};

} // namespace skein::test
