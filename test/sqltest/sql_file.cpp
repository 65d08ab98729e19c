#include "sql_file.hpp"

#include "loop_values.hpp"
#include "sql_file_lines.hpp"

#include "duckdb/common/string_util.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace skein::test {
namespace {

using Kind = SqlRecord::Kind;
using duckdb::StringUtil;

constexpr size_t ANY_NUMBER = SIZE_MAX;

//! A record of one line that is only words.
struct Directive {
	Kind kind;
	size_t min_words;
	size_t max_words;
	const char *usage;
};

const std::map<std::string, Directive> &Directives() {
	static const std::map<std::string, Directive> DIRECTIVES{
		{"require", {Kind::REQUIRE, 1, ANY_NUMBER, "require NAME [ARGUMENT...]"}},
		{"require-env", {Kind::REQUIRE_ENV, 1, 2, "require-env NAME [VALUE]"}},
		{"test-env", {Kind::TEST_ENV, 2, 2, "test-env NAME DEFAULT"}},
		{"load", {Kind::LOAD, 0, 3, "load [FILE [readonly|readwrite [VERSION]]]"}},
		{"restart", {Kind::RESTART, 0, 1, "restart [no_extension_load]"}},
		{"reconnect", {Kind::RECONNECT, 0, 0, "reconnect"}},
		{"sleep", {Kind::SLEEP, 2, 2, "sleep NUMBER UNIT"}},
		{"unzip", {Kind::UNZIP, 1, 2, "unzip FILE.gz [FILE]"}},
		{"hash-threshold", {Kind::HASH_THRESHOLD, 1, 1, "hash-threshold NUMBER"}},
		{"continue", {Kind::CONTINUE, 0, 0, "continue"}},
		{"mode", {Kind::MODE, 1, 1, "mode NAME"}},
	};
	return DIRECTIVES;
}

bool IsNumber(const std::string &text) {
	auto digits = text.substr(!text.empty() && text[0] == '-' ? 1 : 0);
	return !digits.empty() && digits.size() < 19 && digits.find_first_not_of("0123456789") == std::string::npos;
}

class Parser {
public:
	Parser(const std::string &path, const std::string &text) : lines_(path, text) {
	}

	SqlFile Parse() {
		while (!halted_ && lines_.FindRecord()) {
			ParseRecord();
		}
		if (!loops_.empty()) {
			lines_.FailAt(loops_.back().line, "this loop has no endloop");
		}
		if (in_fixture_) {
			lines_.FailAt(fixture_line_, "this fixture has no endfixture");
		}
		return std::move(file_);
	}

private:
	//! Reads one record with the conditions before it.
	void ParseRecord() {
		SqlRecord record;
		auto skip = false;
		auto words = lines_.Words();
		while (words.size() > 0 && (words[0] == "onlyif" || words[0] == "skipif")) {
			skip = !ParseCondition(words, record) || skip;
			lines_.Advance();
			words = lines_.Words();
		}
		if (words.empty()) {
			lines_.Fail("onlyif and skipif stand before a record");
		}
		record.line = lines_.Number();
		skip = skip || (skip_level_ > 0 && words[0] != "mode");
		if (skip) {
			SkipRecord();
		} else {
			ParseRecord(words, std::move(record));
		}
	}

	void SkipRecord() {
		std::vector<std::string> ignored;
		lines_.TakeSql();
		lines_.TakeBlock(ignored);
	}

	void ParseRecord(const std::vector<std::string> &words, SqlRecord record) {
		auto &name = words[0];
		record.words.assign(words.begin() + 1, words.end());
		if (name == "statement") {
			return ParseStatement(std::move(record));
		}
		if (name == "query") {
			return ParseQuery(std::move(record));
		}
		if (!lines_.IsFollowedByGap()) {
			lines_.FailAt(record.line + 1, "an empty line has to follow " + name);
		}
		if (name == "foreach" || name == "concurrentforeach") {
			ParseForeach(std::move(record), name == "concurrentforeach");
		} else if (name == "loop" || name == "concurrentloop") {
			ParseLoop(std::move(record), name == "concurrentloop");
		} else if (name == "endloop") {
			EndLoop();
		} else if (name == "set") {
			ParseSet(std::move(record));
		} else if (name == "reset") {
			ParseReset(std::move(record));
		} else if (name == "fixture" || name == "endfixture") {
			ParseFixture(name == "fixture");
		} else if (name == "tags") {
			// They choose files to run, which our caller does.
		} else if (name == "halt") {
			halted_ = true;
		} else {
			ParseDirective(name, std::move(record));
		}
		lines_.Advance();
	}

	//! Adds `onlyif x=1` to the record; false if the record is for another system than DuckDB.
	bool ParseCondition(const std::vector<std::string> &words, SqlRecord &record) {
		if (words.size() < 2) {
			lines_.Fail(words[0] + " needs a condition");
		}
		auto skip_if = words[0] == "skipif";
		if (words[1].find_first_of("<>=") == std::string::npos) {
			return (StringUtil::Lower(words[1]) == "duckdb") != skip_if;
		}
		for (auto &text : StringUtil::Split(StringUtil::Lower(words[1]), "&&")) {
			record.conditions.push_back(ParseComparison(text, skip_if));
		}
		return true;
	}

	LoopCondition ParseComparison(const std::string &text, bool skip_if) {
		using Comparison = LoopCondition::Comparison;
		// Longer signs first.
		static const std::vector<std::pair<std::string, Comparison>> COMPARISONS{
			{"<>", Comparison::NOT_EQUAL},	   {">=", Comparison::GREATER_OR_EQUAL},
			{"<=", Comparison::LESS_OR_EQUAL}, {">", Comparison::GREATER},
			{"<", Comparison::LESS},		   {"=", Comparison::EQUAL}};
		for (auto &[sign, comparison] : COMPARISONS) {
			auto at = text.find(sign);
			if (at == std::string::npos) {
				continue;
			}
			LoopCondition condition{text.substr(0, at), comparison, text.substr(at + sign.size()), skip_if};
			auto is_text = comparison == Comparison::EQUAL || comparison == Comparison::NOT_EQUAL;
			if (condition.variable.empty() || (!is_text && !IsNumber(condition.value))) {
				break;
			}
			return condition;
		}
		lines_.Fail("malformed condition '" + text + "': expected VARIABLE=VALUE, or <, <=, >, >=, <>");
	}

	void ParseStatement(SqlRecord record) {
		using Expects = SqlRecord::Expects;
		static const std::map<std::string, Expects> EXPECTATIONS{{"ok", Expects::SUCCESS},
																 {"error", Expects::FAILURE},
																 {"maybe", Expects::EITHER},
																 {"debug", Expects::EITHER}};
		auto expects = record.words.empty() ? EXPECTATIONS.end() : EXPECTATIONS.find(record.words[0]);
		if (expects == EXPECTATIONS.end() || record.words.size() > 2) {
			lines_.Fail("expected statement ok|error|maybe [CONNECTION]");
		}
		record.kind = Kind::STATEMENT;
		record.expects = expects->second;
		record.connection = record.words.size() > 1 ? record.words[1] : "";
		TakeSql(record);
		if (record.has_expected && record.expects == Expects::SUCCESS) {
			lines_.FailAt(record.line, "a statement that is to succeed has no message");
		}
		Add(std::move(record));
	}

	void ParseQuery(SqlRecord record) {
		auto &words = record.words;
		auto any = words.size() > 0 && words[0] == "*";
		if (words.empty() || words.size() > 3 || (!any && words[0].find_first_not_of("TIR") != std::string::npos)) {
			lines_.Fail("expected query TYPES [nosort|rowsort|valuesort|CONNECTION] [LABEL], types are T, I, R");
		}
		record.kind = Kind::QUERY;
		record.columns = any ? 0 : words[0].size();
		if (words.size() > 1) {
			ParseSort(words[1], record);
		}
		record.label = words.size() > 2 ? words[2] : "";
		TakeSql(record);
		Add(std::move(record));
	}

	static void ParseSort(const std::string &word, SqlRecord &record) {
		if (word == "rowsort" || word == "sort") {
			record.sort = SqlRecord::Sort::ROWS;
		} else if (word == "valuesort") {
			record.sort = SqlRecord::Sort::VALUES;
		} else if (word != "nosort" && word != "none") {
			record.connection = word;
		}
	}

	void TakeSql(SqlRecord &record) {
		lines_.Advance();
		record.sql = lines_.TakeSql();
		if (record.sql.empty()) {
			lines_.FailAt(record.line, "there is no SQL here");
		}
		record.has_expected = lines_.TakeBlock(record.expected);
	}

	void ParseForeach(SqlRecord record, bool concurrent) {
		if (record.words.size() < 2) {
			lines_.Fail("expected foreach VARIABLE VALUE...");
		}
		record.values = LoopValues({record.words.begin() + 1, record.words.end()});
		auto names = StringUtil::Split(record.words[0], ",").size();
		for (auto &value : record.values) {
			if (names > 1 && StringUtil::Split(value, ",").size() != names) {
				lines_.Fail("'" + value + "' does not have " + std::to_string(names) + " values, as " +
							record.words[0]);
			}
		}
		StartLoop(std::move(record), concurrent);
	}

	void ParseLoop(SqlRecord record, bool concurrent) {
		auto &words = record.words;
		if (words.size() != 3 || !IsNumber(words[1]) || !IsNumber(words[2])) {
			lines_.Fail("expected loop VARIABLE START END");
		}
		auto end = std::stoll(words[2]);
		// The first round always runs.
		auto value = std::stoll(words[1]);
		do {
			record.values.push_back(std::to_string(value));
		} while (++value < end);
		StartLoop(std::move(record), concurrent);
	}

	void StartLoop(SqlRecord record, bool concurrent) {
		record.kind = Kind::LOOP;
		record.variable = record.words[0];
		record.concurrent = concurrent;
		loops_.push_back(std::move(record));
	}

	void EndLoop() {
		if (loops_.empty()) {
			lines_.Fail("endloop without a loop");
		}
		auto loop = std::move(loops_.back());
		loops_.pop_back();
		Add(std::move(loop));
	}

	void ParseSet(SqlRecord record) {
		auto &words = record.words;
		if (words.size() == 2 && words[0] == "seed") {
			record.kind = Kind::SET_SEED;
		} else if (words.size() > 0 && words[0] == "ignore_error_messages") {
			record.kind = Kind::IGNORE_ERRORS;
		} else if (words.size() > 0 && words[0] == "always_fail_error_messages") {
			return; // An internal error is never what we accept.
		} else {
			lines_.Fail(
				"expected set seed NUMBER, set ignore_error_messages TEXT, ... or set always_fail_error_messages");
		}
		words.erase(words.begin());
		Add(std::move(record));
	}

	void ParseReset(SqlRecord record) {
		if (record.words.size() != 2 || StringUtil::Lower(record.words[0]) != "label") {
			lines_.Fail("expected reset label NAME");
		}
		record.kind = Kind::RESET_LABEL;
		record.label = record.words[1];
		Add(std::move(record));
	}

	void ParseFixture(bool begin) {
		if (begin == in_fixture_ || !loops_.empty()) {
			lines_.Fail(begin ? "fixture is not at the top" : "endfixture without fixture");
		}
		in_fixture_ = begin;
		fixture_line_ = lines_.Number();
	}

	void ParseDirective(const std::string &name, SqlRecord record) {
		auto directive = Directives().find(name);
		if (directive == Directives().end()) {
			lines_.Fail("unknown: " + name);
		}
		auto &[kind, min_words, max_words, usage] = directive->second;
		if (record.words.size() < min_words || record.words.size() > max_words) {
			lines_.Fail(std::string("expected ") + usage);
		}
		record.kind = kind;
		auto first = record.words.empty() ? "" : record.words[0];
		if (kind == Kind::CONTINUE && loops_.empty()) {
			lines_.Fail("continue outside of a loop");
		}
		if ((kind == Kind::HASH_THRESHOLD || kind == Kind::SLEEP) && !IsNumber(first)) {
			lines_.Fail("'" + first + "' is not a number");
		}
		if (kind == Kind::MODE && (first == "skip" || first == "unskip")) {
			ParseSkip(first == "skip");
			return;
		}
		Add(std::move(record));
	}

	void ParseSkip(bool skip) {
		if (!skip && skip_level_ == 0) {
			lines_.Fail("mode unskip without mode skip");
		}
		skip_level_ = skip ? skip_level_ + 1 : skip_level_ - 1;
	}

	void Add(SqlRecord record) {
		auto &records = !loops_.empty() ? loops_.back().body : in_fixture_ ? file_.fixture : file_.records;
		records.push_back(std::move(record));
	}

	SqlFileLines lines_;
	SqlFile file_;
	//! The loops that are open, the innermost last.
	std::vector<SqlRecord> loops_;
	size_t skip_level_ = 0;
	bool in_fixture_ = false;
	size_t fixture_line_ = 0;
	bool halted_ = false;
};

std::string Join(const std::vector<std::string> &parts, const std::string &separator) {
	std::string result;
	for (size_t i = 0; i < parts.size(); i++) {
		result += (i > 0 ? separator : "") + parts[i];
	}
	return result;
}

} // namespace

std::string SqlRecord::WordText() const {
	return Join(words, " ");
}

std::string SqlRecord::ExpectedText() const {
	return Join(expected, "\n");
}

SqlFile SqlFile::Read(const std::string &path) {
	std::ifstream stream(path);
	std::ostringstream text;
	text << stream.rdbuf();
	if (!stream) {
		throw std::runtime_error(path + ": cannot be read");
	}
	return Parse(path, text.str());
}

SqlFile SqlFile::Parse(const std::string &path, const std::string &text) {
	return Parser(path, text).Parse();
}

} // namespace skein::test
