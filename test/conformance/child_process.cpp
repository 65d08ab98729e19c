#include "child_process.hpp"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace skein {

ChildProcess::ChildProcess(std::vector<std::string> command) {
	int input[2];
	int output[2];
	if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
		throw std::runtime_error("pipe2 failed");
	}
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
	std::vector<char *> arguments;
	for (auto &word : command) {
		arguments.push_back(word.data());
	}
	arguments.push_back(nullptr);
	auto code = posix_spawn(&pid_, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	close(input[0]);
	close(output[1]);
	stdin_ = input[1];
	stdout_ = output[0];
	if (code != 0) {
		throw std::runtime_error("cannot start " + command[0]);
	}
}

ChildProcess::~ChildProcess() {
	close(stdin_);
	close(stdout_);
	Signal(SIGKILL);
	waitpid(pid_, nullptr, 0);
}

std::string ChildProcess::ReadLine() {
	std::string line;
	char c;
	while (read(stdout_, &c, 1) == 1 && c != '\n') {
		line += c;
	}
	return line;
}

void ChildProcess::Signal(int signal) {
	kill(pid_, signal);
}

} // namespace skein
