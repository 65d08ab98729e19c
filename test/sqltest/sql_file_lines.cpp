#include "sql_file_lines.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace skein::test {
namespace {

const std::string SEPARATOR = "----";

} // namespace

SqlFileLines::SqlFileLines(std::string path, const std::string &text) : path_(std::move(path)) {
	std::istringstream stream(text);
	for (std::string line; std::getline(stream, line);) {
		line.erase(std::remove(line.begin(), line.end(), '\r'), line.end());
		lines_.push_back(line);
	}
}

bool SqlFileLines::IsGap(size_t index) const {
	return index >= lines_.size() || lines_[index].empty() || lines_[index][0] == '#';
}

bool SqlFileLines::FindRecord() {
	while (next_ < lines_.size() && (IsGap(next_) || Words().empty())) {
		next_++;
	}
	return next_ < lines_.size();
}

std::vector<std::string> SqlFileLines::Words() const {
	std::vector<std::string> words;
	if (next_ < lines_.size()) {
		std::istringstream stream(lines_[next_]);
		for (std::string word; stream >> word;) {
			words.push_back(word);
		}
	}
	return words;
}

bool SqlFileLines::IsFollowedByGap() const {
	return IsGap(next_ + 1);
}

std::string SqlFileLines::TakeSql() {
	std::string sql;
	for (; !IsGap(next_) && lines_[next_] != SEPARATOR; next_++) {
		sql += (sql.empty() ? "" : "\n") + lines_[next_];
	}
	return sql;
}

bool SqlFileLines::TakeBlock(std::vector<std::string> &block) {
	if (next_ >= lines_.size() || lines_[next_] != SEPARATOR) {
		return false;
	}
	for (next_++; next_ < lines_.size() && !lines_[next_].empty(); next_++) {
		block.push_back(lines_[next_]);
	}
	return true;
}

void SqlFileLines::Fail(const std::string &what) const {
	FailAt(Number(), what);
}

void SqlFileLines::FailAt(size_t number, const std::string &what) const {
	throw std::runtime_error(path_ + ":" + std::to_string(number) + ": " + what);
}

} // namespace skein::test
