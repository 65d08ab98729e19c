#pragma once

#include <fstream>
#include <ostream>
#include <string>

namespace skein::cli {

//! Where results go: a file, or the standard output.
class Output {
public:
	//! Opens (and empties) the file; an empty path is the standard output. Throws CommandError (wrong usage).
	explicit Output(const std::string &path);

	std::ostream &Stream();
	//! Writes out what is buffered. Throws CommandError when anything could not be written.
	void Flush();
	bool IsTerminal() const;

private:
	std::string path_;
	std::ofstream file_;
};

} // namespace skein::cli
