#include "output.hpp"

#include "exit_code.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <unistd.h>

namespace skein::cli {

Output::Output(const std::string &path) : path_(path) {
	if (path_.empty()) {
		return;
	}
	file_.open(path_, std::ios::binary | std::ios::trunc);
	if (!file_.is_open()) {
		throw CommandError(ExitCode::WRONG_USAGE, "cannot write '" + path_ + "': " + std::strerror(errno));
	}
}

std::ostream &Output::Stream() {
	return path_.empty() ? std::cout : file_;
}

void Output::Flush() {
	errno = 0;
	if (!Stream().flush()) {
		auto target = path_.empty() ? "the standard output" : "'" + path_ + "'";
		auto reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
		throw CommandError(ExitCode::FAILED, "cannot write " + target + reason);
	}
}

bool Output::IsTerminal() const {
	return path_.empty() && isatty(STDOUT_FILENO) != 0;
}

} // namespace skein::cli
