#include "child_processes.hpp"

#include "address.hpp"
#include "exit_code.hpp"
#include "machine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skein::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds START_LIMIT{30};
//! Longer than the grace that a worker gives its running tasks.
constexpr std::chrono::seconds STOP_LIMIT{12};
constexpr const char *READY_PREFIX = "skein worker listening on ";

[[noreturn]] void ThrowSystemError(const std::string &what) {
	throw CommandError(ExitCode::FAILED, what + ": " + std::strerror(errno));
}

int RemainingMilliseconds(Clock::time_point deadline) {
	auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
	return static_cast<int>(std::max<decltype(left)>(left, 0));
}

//! Waits until one of `fds` is readable. Returns false when the deadline passed first; no deadline: waits for ever.
bool Poll(std::vector<pollfd> &fds, const Clock::time_point *deadline) {
	while (true) {
		auto ready = poll(fds.data(), fds.size(), deadline ? RemainingMilliseconds(*deadline) : -1);
		if (ready >= 0) {
			return ready > 0;
		}
		if (errno != EINTR) {
			ThrowSystemError("cannot wait for worker processes");
		}
	}
}

//! In the child, between fork() and exec(): nothing here may allocate.
[[noreturn]] void BecomeWorker(char *const *arguments, int output_fd, pid_t parent) {
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) {
		_exit(1);
	}
	setpgid(0, 0);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, nullptr);
	auto null_fd = open("/dev/null", O_RDONLY);
	dup2(null_fd, STDIN_FILENO);
	dup2(output_fd, STDOUT_FILENO);
	execv("/proc/self/exe", arguments);
	_exit(127);
}

} // namespace

std::string DescribeEnd(int status) {
	if (WIFSIGNALED(status)) {
		auto signal = WTERMSIG(status);
		return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
	}
	return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

std::vector<WorkerLaunch> ShareMachine(size_t count, const std::string &listen) {
	auto base = ParseHostPort(listen);
	if (base.port != 0 && base.port + count - 1 > UINT16_MAX) {
		throw CommandError(ExitCode::WRONG_USAGE, "no ports for " + std::to_string(count) + " workers from " + listen);
	}
	// DuckDB alone takes 80 % of the memory; so do the workers together.
	auto memory_limit = std::to_string(MemoryBytes() * 8 / 10 / count / 1000000) + "MB";
	std::vector<WorkerLaunch> result;
	for (size_t i = 0; i < count; i++) {
		HostPort address{base.host, static_cast<uint16_t>(base.port == 0 ? 0 : base.port + i)};
		result.push_back({ToString(address), std::max<size_t>(1, CoreCount() / count), memory_limit, {}});
	}
	return result;
}

ChildProcesses::ChildProcesses(const std::vector<WorkerLaunch> &launches) {
	try {
		for (auto &launch : launches) {
			Start(launch);
		}
		auto deadline = Clock::now() + START_LIMIT;
		for (auto &child : children_) {
			WaitUntilReady(child, deadline);
		}
	} catch (...) {
		Stop();
		throw;
	}
}

ChildProcesses::~ChildProcesses() {
	Stop();
}

void ChildProcesses::Start(const WorkerLaunch &launch) {
	std::vector<std::string> texts{"skein",		  "worker",	   "--listen",
								   launch.listen, "--threads", std::to_string(launch.threads)};
	if (!launch.memory_limit.empty()) {
		texts.insert(texts.end(), {"--memory-limit", launch.memory_limit});
	}
	for (auto &extension : launch.extensions) {
		texts.insert(texts.end(), {"--load", extension});
	}
	std::vector<char *> arguments;
	for (auto &text : texts) {
		arguments.push_back(text.data());
	}
	arguments.push_back(nullptr);

	int output[2];
	if (pipe2(output, O_CLOEXEC) != 0) {
		ThrowSystemError("cannot start a worker process");
	}
	auto parent = getpid();
	auto pid = fork();
	if (pid == 0) {
		BecomeWorker(arguments.data(), output[1], parent);
	}
	close(output[1]);
	if (pid < 0) {
		close(output[0]);
		ThrowSystemError("cannot start a worker process");
	}
	Child child;
	child.pid = pid;
	child.output_fd = output[0];
	child.end_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	children_.push_back(child);
	if (child.end_fd < 0) {
		ThrowSystemError("cannot watch a worker process");
	}
}

void ChildProcesses::WaitUntilReady(Child &child, Clock::time_point deadline) {
	std::string line;
	while (line.find('\n') == std::string::npos) {
		std::vector<pollfd> fds{{child.output_fd, POLLIN, 0}};
		if (!Poll(fds, &deadline)) {
			throw CommandError(ExitCode::FAILED, "worker process " + std::to_string(child.pid) +
													 " was not ready within " + std::to_string(START_LIMIT.count()) +
													 " s");
		}
		char buffer[512];
		auto size = read(child.output_fd, buffer, sizeof(buffer));
		if (size <= 0) {
			Reap(child);
			throw CommandError(ExitCode::FAILED,
							   "a worker process " + DescribeEnd(child.status) + " before it was ready");
		}
		line.append(buffer, static_cast<size_t>(size));
	}
	line.resize(line.find('\n'));
	if (line.rfind(READY_PREFIX, 0) != 0) {
		throw CommandError(ExitCode::FAILED, "a worker process said '" + line + "' when it started");
	}
	child.address = line.substr(std::string(READY_PREFIX).size());
}

std::string ChildProcesses::AddressList() const {
	std::string result;
	for (auto &child : children_) {
		result += (result.empty() ? "" : ",") + child.address;
	}
	return result;
}

const ChildProcesses::Child *ChildProcesses::WaitForEnd(int signal_fd) {
	std::vector<pollfd> fds{{signal_fd, POLLIN, 0}};
	for (auto &child : children_) {
		// poll() skips negative descriptors.
		fds.push_back({child.running ? child.end_fd : -1, POLLIN, 0});
	}
	Poll(fds, nullptr);
	for (size_t i = 0; i < children_.size(); i++) {
		if (fds[0].revents == 0 && fds[i + 1].revents != 0) {
			Reap(children_[i]);
			return &children_[i];
		}
	}
	return nullptr;
}

void ChildProcesses::Stop() {
	for (auto &child : children_) {
		if (child.running) {
			kill(child.pid, SIGTERM);
		}
	}
	if (!WaitForAll(Clock::now() + STOP_LIMIT)) {
		for (auto &child : children_) {
			if (child.running) {
				kill(child.pid, SIGKILL);
				Reap(child);
			}
		}
	}
	for (auto &child : children_) {
		for (auto fd : {&child.output_fd, &child.end_fd}) {
			if (*fd >= 0) {
				close(*fd);
			}
			*fd = -1;
		}
	}
}

bool ChildProcesses::WaitForAll(Clock::time_point deadline) {
	for (auto &child : children_) {
		if (!child.running) {
			continue;
		}
		std::vector<pollfd> fds{{child.end_fd, POLLIN, 0}};
		if (child.end_fd < 0 || !Poll(fds, &deadline)) {
			return false;
		}
		Reap(child);
	}
	return true;
}

void ChildProcesses::Reap(Child &child) {
	while (waitpid(child.pid, &child.status, 0) < 0 && errno == EINTR) {
	}
	child.running = false;
}

} // namespace skein::cli
