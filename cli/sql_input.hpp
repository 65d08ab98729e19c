#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace skein::cli {

//! Where the SQL comes from: -c TEXT, -f FILE, or else the standard input.
struct SqlInput {
	std::string text;
	std::string file;

	void AddTo(CLI::App &app);
	//! Returns the SQL. Throws CommandError (wrong usage) when there is none to read.
	std::string Read() const;
};

//! The whole content of a file. Throws CommandError (wrong usage) that names it when it cannot be read.
std::string ReadFile(const std::string &path);

} // namespace skein::cli
