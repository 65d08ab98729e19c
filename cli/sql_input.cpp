#include "sql_input.hpp"

#include "exit_code.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <unistd.h>

namespace skein::cli {

void SqlInput::AddTo(CLI::App &app) {
	auto text_option = app.add_option("-c,--command", text, "SQL to run");
	app.add_option("-f,--file", file, "File with SQL to run")->excludes(text_option);
}

std::string SqlInput::Read() const {
	if (!text.empty()) {
		return text;
	}
	if (!file.empty()) {
		return ReadFile(file);
	}
	if (isatty(STDIN_FILENO) != 0) {
		throw CommandError(ExitCode::WRONG_USAGE, "no SQL: give it with -c or -f, or on the standard input");
	}
	return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string ReadFile(const std::string &path) {
	errno = std::filesystem::is_directory(path) ? EISDIR : 0;
	std::ifstream input;
	if (errno == 0) {
		input.open(path, std::ios::binary);
	}
	if (!input.is_open()) {
		throw CommandError(ExitCode::WRONG_USAGE, "cannot read '" + path + "': " + std::strerror(errno));
	}
	return {std::istreambuf_iterator<char>(input), {}};
}

} // namespace skein::cli
