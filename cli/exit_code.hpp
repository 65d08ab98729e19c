#pragma once

#include <stdexcept>
#include <string>

namespace skein::cli {

//! What the process tells its caller.
enum class ExitCode : int { DONE = 0, FAILED = 1, WRONG_USAGE = 2, CLUSTER_UNREACHABLE = 3, INTERRUPTED = 130 };

//! Ends the command: what to tell the user, and the code to exit with.
class CommandError : public std::runtime_error {
public:
	CommandError(ExitCode code, const std::string &message) : std::runtime_error(message), code_(code) {
	}
	ExitCode Code() const {
		return code_;
	}

private:
	ExitCode code_;
};

} // namespace skein::cli
