#include "case_file.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace skein::test {
namespace {

std::string Trim(const std::string &text) {
	auto first = text.find_first_not_of(" \t");
	return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> Split(const std::string &text, const std::string &separator) {
	std::vector<std::string> result;
	size_t start = 0;
	for (auto at = text.find(separator); at != std::string::npos; at = text.find(separator, start)) {
		result.push_back(Trim(text.substr(start, at - start)));
		start = at + separator.size();
	}
	result.push_back(Trim(text.substr(start)));
	return result;
}

void ReplaceAll(std::string &text, const std::string &from, const std::string &to) {
	for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
		text.replace(at, from.size(), to);
	}
}

class CaseReader {
public:
	explicit CaseReader(const std::string &path) : name_(std::filesystem::path(path).filename().string()) {
		std::ifstream stream(path);
		if (!stream) {
			throw std::runtime_error("cannot read " + path);
		}
		for (std::string line; std::getline(stream, line);) {
			number_++;
			ReadLine(line);
		}
		FinishCase();
	}

	std::vector<CoverageSection> sections;

private:
	using Words = std::pair<std::string, std::vector<std::string>>;

	void ReadLine(const std::string &line) {
		if (line.empty() || line[0] == '#') {
			return;
		}
		if (line[0] == '\t') {
			if (!in_case_) {
				Fail("SQL without a case");
			}
			case_.sql += (case_.sql.empty() ? "" : " ") + Trim(line);
			return;
		}
		if (line.rfind("- ", 0) == 0) {
			StartCase("`" + Trim(line.substr(2)) + "`");
			case_.sql = Trim(line.substr(2));
			return;
		}
		if (line == "end") {
			FinishCase();
			loops_.clear();
			return;
		}
		auto colon = line.find(':');
		if (colon == std::string::npos) {
			Fail("not understood: " + line);
		}
		ReadEntry(line.substr(0, colon), Trim(line.substr(colon + 1)));
	}

	void ReadEntry(const std::string &key, const std::string &value) {
		if (key == "before") {
			case_.before.push_back(value);
			return;
		}
		if (key == "after") {
			case_.after = value;
			return;
		}
		if (key == "case") {
			return StartCase(value);
		}
		FinishCase();
		if (key == "section") {
			sections.emplace_back();
			sections.back().title = value;
		} else if (sections.empty()) {
			Fail("before the first section");
		} else if (key == "for") {
			auto colon = value.find(':');
			loops_.emplace_back(Trim(value.substr(0, colon)), Split(value.substr(colon + 1), " | "));
		} else {
			ReadSectionEntry(sections.back(), key, value);
		}
	}

	void ReadSectionEntry(CoverageSection &section, const std::string &key, const std::string &value) {
		if (key == "text") {
			section.text += (section.text.empty() ? "" : "\n") + value;
		} else if (key == "subject") {
			section.subject = value;
		} else if (key == "focus" || key == "requires") {
			section.focus = Split(value, " ");
			section.focus_is_required = key == "requires";
		} else if (key == "show" && value == "joins") {
			section.shows_joins = true;
		} else if (key == "again") {
			section.again.push_back(Setting(value));
		} else if (key == "column") {
			section.columns.push_back(Column(value));
		} else if (key == "without") {
			auto colon = value.find(':');
			section.without.emplace_back(value.substr(0, colon), Trim(value.substr(colon + 1)));
		} else {
			Fail("not understood: " + key);
		}
	}

	CoverageColumn Column(const std::string &value) {
		CoverageColumn column;
		auto colon = value.find(": ");
		column.title = value.substr(0, colon);
		column.sql = colon == std::string::npos ? "$case" : Trim(value.substr(colon + 1));
		auto brace = column.title.find(" {");
		if (brace != std::string::npos) {
			auto list = column.title.substr(brace + 2, column.title.size() - brace - 3);
			for (auto &entry : Split(list, ", ")) {
				column.settings.push_back(Setting(entry));
			}
			column.title.resize(brace);
		}
		return column;
	}

	std::pair<std::string, std::string> Setting(const std::string &text) {
		auto equals = text.find('=');
		if (equals == std::string::npos) {
			Fail("no setting: " + text);
		}
		return {text.substr(0, equals), text.substr(equals + 1)};
	}

	void StartCase(const std::string &title) {
		FinishCase();
		if (sections.empty()) {
			Fail("a case before the first section");
		}
		in_case_ = true;
		case_ = {};
		case_.place = name_ + ":" + std::to_string(number_);
		case_.title = title;
	}

	void FinishCase() {
		if (in_case_) {
			in_case_ = false;
			AddCase(case_, 0);
		}
	}

	//! Adds the case once for each combination of the words of all loops from `loop` on.
	void AddCase(const CoverageCase &pattern, size_t loop) {
		if (loop == loops_.size()) {
			sections.back().cases.push_back(pattern);
			return;
		}
		for (auto &word : loops_[loop].second) {
			auto one = pattern;
			auto variable = "${" + loops_[loop].first + "}";
			ReplaceAll(one.title, variable, word);
			ReplaceAll(one.sql, variable, word);
			ReplaceAll(one.after, variable, word);
			for (auto &statement : one.before) {
				ReplaceAll(statement, variable, word);
			}
			AddCase(one, loop + 1);
		}
	}

	[[noreturn]] void Fail(const std::string &what) const {
		throw std::runtime_error(name_ + ":" + std::to_string(number_) + ": " + what);
	}

	std::string name_;
	size_t number_ = 0;
	std::vector<Words> loops_;
	CoverageCase case_;
	bool in_case_ = false;
};

} // namespace

std::vector<CoverageSection> ReadCases(const std::string &path) {
	auto sections = std::move(CaseReader(path).sections);
	for (auto &section : sections) {
		if (section.columns.empty()) {
			section.columns.push_back({"how", "$case", {}});
		}
	}
	return sections;
}

} // namespace skein::test
