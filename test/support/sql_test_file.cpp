#include "sql_test_file.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace skein::test {
namespace {

struct Line {
	size_t number;
	std::string text;
};

std::vector<std::string> Words(const std::string &text) {
	std::istringstream stream(text);
	std::vector<std::string> words;
	for (std::string word; stream >> word;) {
		words.push_back(word);
	}
	return words;
}

void ReplaceAll(std::string &text, const std::string &from, const std::string &to) {
	for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
		text.replace(at, from.size(), to);
	}
}

class Parser {
public:
	Parser(std::string path, std::vector<Line> lines) : path_(std::move(path)), lines_(std::move(lines)) {
	}

	SqlTestFile Parse() {
		while (next_ < lines_.size()) {
			ParseRecord();
		}
		if (records_ != &file_.records) {
			Fail("no endfixture");
		}
		return std::move(file_);
	}

	[[noreturn]] void Fail(const std::string &what) const {
		auto number = lines_.empty() ? 0 : lines_[std::min(next_, lines_.size() - 1)].number;
		throw std::runtime_error(path_ + ":" + std::to_string(number) + ": " + what);
	}

	//! Writes out the loops.
	static std::vector<Line> Unroll(const std::string &path, const std::vector<Line> &lines) {
		std::vector<Line> result;
		for (size_t i = 0; i < lines.size(); i++) {
			auto words = Words(lines[i].text);
			if (words.empty() || words[0] != "foreach") {
				result.push_back(lines[i]);
				continue;
			}
			size_t end = i + 1;
			for (size_t depth = 1; end < lines.size(); end++) {
				auto inner = Words(lines[end].text);
				depth += !inner.empty() && inner[0] == "foreach" ? 1 : 0;
				depth -= !inner.empty() && inner[0] == "endloop" ? 1 : 0;
				if (depth == 0) {
					break;
				}
			}
			if (end == lines.size() || words.size() < 3) {
				throw std::runtime_error(path + ":" + std::to_string(lines[i].number) + ": malformed foreach");
			}
			for (size_t value = 2; value < words.size(); value++) {
				std::vector<Line> body(lines.begin() + static_cast<long>(i) + 1,
									   lines.begin() + static_cast<long>(end));
				for (auto &line : body) {
					ReplaceAll(line.text, "${" + words[1] + "}", words[value]);
				}
				body = Unroll(path, body);
				result.insert(result.end(), body.begin(), body.end());
				result.push_back({lines[end].number, ""});
			}
			i = end;
		}
		return result;
	}

private:
	void ParseRecord() {
		auto &line = lines_[next_];
		auto words = Words(line.text);
		if (words.empty() || words[0][0] == '#') {
			next_++;
			return;
		}
		SqlTestRecord record;
		record.line = line.number;
		if (words[0] == "fixture" && words.size() == 1) {
			records_ = &file_.fixture;
			next_++;
			return;
		}
		if (words[0] == "endfixture" && words.size() == 1) {
			records_ = &file_.records;
			next_++;
			return;
		}
		if (words[0] == "require" && words.size() == 2) {
			record.kind = SqlTestRecord::Kind::REQUIRE;
			record.text = words[1];
			next_++;
		} else if (words[0] == "mode" && words.size() == 2) {
			record.kind = SqlTestRecord::Kind::MODE;
			record.text = words[1];
			next_++;
		} else if (words[0] == "statement" && words.size() == 2 && (words[1] == "ok" || words[1] == "error")) {
			record.kind = words[1] == "ok" ? SqlTestRecord::Kind::STATEMENT_OK : SqlTestRecord::Kind::STATEMENT_ERROR;
			ParseBody(record);
		} else if (words[0] == "query" && words.size() >= 2) {
			record.kind = SqlTestRecord::Kind::QUERY;
			record.row_sort = words.size() > 2 && words[2] == "rowsort";
			ParseBody(record);
		} else {
			Fail("unknown: " + line.text);
		}
		records_->push_back(std::move(record));
	}

	void ParseBody(SqlTestRecord &record) {
		auto in_expected = false;
		for (next_++; next_ < lines_.size() && !lines_[next_].text.empty(); next_++) {
			auto &text = lines_[next_].text;
			if (text == "----") {
				in_expected = true;
			} else if (in_expected) {
				record.expected.push_back(text);
			} else {
				record.text += (record.text.empty() ? "" : "\n") + text;
			}
		}
		record.has_expected = in_expected;
		if (record.text.empty()) {
			Fail("no SQL");
		}
	}

	const std::string path_;
	const std::vector<Line> lines_;
	size_t next_ = 0;
	SqlTestFile file_;
	std::vector<SqlTestRecord> *records_ = &file_.records;
};

} // namespace

SqlTestFile SqlTestFile::Read(const std::string &path, const std::string &test_dir) {
	std::ifstream stream(path);
	if (!stream) {
		throw std::runtime_error("cannot read " + path);
	}
	std::vector<Line> lines;
	for (std::string text; std::getline(stream, text);) {
		ReplaceAll(text, "__TEST_DIR__", test_dir);
		lines.push_back({lines.size() + 1, text});
	}
	return Parser(path, Parser::Unroll(path, lines)).Parse();
}

} // namespace skein::test
