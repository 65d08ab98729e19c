#include "worker_processes.hpp"

#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skein::test {
namespace {

const std::string READY_PREFIX = "skein worker listening on ";

} // namespace

WorkerProcesses::WorkerProcesses(const std::string &skein, size_t count) {
	try {
		for (size_t i = 0; i < count; i++) {
			Start(skein);
		}
		for (auto &process : processes_) {
			auto line = ReadLine(process.output_fd);
			if (line.rfind(READY_PREFIX, 0) != 0) {
				throw std::runtime_error("a worker process did not start: " + line);
			}
			process.address = line.substr(READY_PREFIX.size());
		}
	} catch (...) {
		Stop();
		throw;
	}
}

WorkerProcesses::~WorkerProcesses() {
	Stop();
}

std::string WorkerProcesses::AddressList() const {
	std::string result;
	for (auto &process : processes_) {
		result += (result.empty() ? "" : ",") + process.address;
	}
	return result;
}

void WorkerProcesses::Start(const std::string &skein) {
	int output[2];
	if (pipe2(output, O_CLOEXEC) != 0) {
		throw std::runtime_error("no pipe for a worker process");
	}
	auto parent = getpid();
	auto pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) {
			_exit(1);
		}
		dup2(output[1], STDOUT_FILENO);
		execl(skein.c_str(), "skein", "worker", "--listen", "127.0.0.1:0", "--threads", "2",
			  static_cast<char *>(nullptr));
		_exit(127);
	}
	close(output[1]);
	if (pid < 0) {
		close(output[0]);
		throw std::runtime_error("cannot start " + skein);
	}
	processes_.push_back({pid, output[0], ""});
}

std::string WorkerProcesses::ReadLine(int fd) {
	std::string line;
	char letter = 0;
	while (read(fd, &letter, 1) == 1 && letter != '\n') {
		line += letter;
	}
	return line;
}

void WorkerProcesses::Stop() {
	for (auto &process : processes_) {
		kill(process.pid, SIGTERM);
	}
	for (auto &process : processes_) {
		waitpid(process.pid, nullptr, 0);
		close(process.output_fd);
	}
	processes_.clear();
}

} // namespace skein::test
