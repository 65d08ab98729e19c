#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace skein {

//! A program started by a test. Its standard input is a pipe that ends when the test does, whatever happens to it.
//! The destructor kills it.
class ChildProcess {
public:
	explicit ChildProcess(std::vector<std::string> command);
	~ChildProcess();
	ChildProcess(const ChildProcess &) = delete;
	ChildProcess &operator=(const ChildProcess &) = delete;

	//! The next line of its standard output, without the end of line; empty at the end of it.
	std::string ReadLine();
	void Signal(int signal);

private:
	pid_t pid_ = -1;
	int stdin_ = -1;
	int stdout_ = -1;
};

} // namespace skein
