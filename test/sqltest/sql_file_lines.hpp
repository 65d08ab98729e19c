#pragma once

#include <string>
#include <vector>

namespace skein::test {

//! The lines of a test file and a place among them.
class SqlFileLines {
public:
	SqlFileLines(std::string path, const std::string &text);

	//! Goes to the first line from here on that is neither empty nor a comment; false if there is none.
	bool FindRecord();
	//! The number of the current line, from 1.
	size_t Number() const {
		return next_ + 1;
	}
	//! The words of the current line.
	std::vector<std::string> Words() const;
	void Advance() {
		next_++;
	}
	//! Whether the line after the current one may be the first of another record.
	bool IsFollowedByGap() const;
	//! Takes the lines up to a gap or `----`.
	std::string TakeSql();
	//! Takes `----` and the lines up to an empty one; false if there is no `----`.
	bool TakeBlock(std::vector<std::string> &block);
	//! Throws std::runtime_error with the file and a line, by default the current one.
	[[noreturn]] void Fail(const std::string &what) const;
	[[noreturn]] void FailAt(size_t number, const std::string &what) const;

private:
	bool IsGap(size_t index) const;

	const std::string path_;
	std::vector<std::string> lines_;
	size_t next_ = 0;
};

} // namespace skein::test
