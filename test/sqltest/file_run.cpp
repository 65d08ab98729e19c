#include "file_run.hpp"

#include "requirement.hpp"

#include "duckdb/common/gzip_file_system.hpp"
#include "duckdb/common/virtual_file_system.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <regex>
#include <thread>

namespace skein::test {
namespace {

using duckdb::StringUtil;
using Kind = SqlRecord::Kind;

constexpr std::chrono::seconds LONGEST_SLEEP{10};

//! Thrown where the rest of a file is left out.
struct FileEnd {
	size_t line;
	std::string why;
};

Lane::Options LaneOptions(const char *name, const Configuration &configuration, const FileRun::Options &options) {
	Lane::Options result;
	result.name = name;
	result.with_skein = name == FileRun::SKEIN;
	result.extension_dir = options.extension_dir;
	result.settings = configuration.settings;
	if (configuration.processes > 0) {
		result.settings.emplace_back("skein_cluster", options.cluster);
	}
	return result;
}

//! DuckDB's own checks of its plans: each query is then run in many ways and the answers compared. They would check
//! DuckDB, not us.
bool IsVerification(const std::string &sql) {
	auto text = StringUtil::Lower(sql);
	StringUtil::Trim(text);
	return text.rfind("pragma enable_verification", 0) == 0 || text.rfind("pragma verify_", 0) == 0 ||
		   text.rfind("pragma enable_verify_", 0) == 0;
}

//! Whether a statement leaves everything as it was.
bool ReadsOnly(duckdb::Connection &connection, const std::string &sql) {
	try {
		auto statements = connection.ExtractStatements(sql);
		return std::all_of(statements.begin(), statements.end(), [](auto &statement) {
			return statement->type == duckdb::StatementType::SELECT_STATEMENT ||
				   statement->type == duckdb::StatementType::EXPLAIN_STATEMENT;
		});
	} catch (const std::exception &) {
		return true;
	}
}

//! Whether an SQL text calls a function that gives random values.
bool IsRandom(const std::string &sql) {
	static const std::regex CALL("(random|uuid|uuidv4|uuidv7|sample) *\\(|using sample|tablesample");
	return std::regex_search(StringUtil::Lower(sql), CALL);
}

std::chrono::nanoseconds SleepUnit(const std::string &unit) {
	if (StringUtil::StartsWith(unit, "sec")) {
		return std::chrono::seconds(1);
	}
	if (StringUtil::StartsWith(unit, "milli")) {
		return std::chrono::milliseconds(1);
	}
	return StringUtil::StartsWith(unit, "micro") ? std::chrono::microseconds(1) : std::chrono::nanoseconds(1);
}

} // namespace

FileRun::FileRun(std::string path, const Configuration &configuration, TestFolder &folder, Watchdog &watchdog,
				 Report &report, Options options)
	: path_(std::move(path)), configuration_(configuration.name), options_(std::move(options)), folder_(folder),
	  report_(report), variables_(path_, folder.Path()), expectation_(variables_), judge_(expectation_),
	  plain_(folder, watchdog, LaneOptions(PLAIN, configuration, options_)),
	  skein_(folder, watchdog, LaneOptions(SKEIN, configuration, options_)) {
}

void FileRun::SetAlone() {
	alone_ = true;
	skein_.Distribute(false);
}

void FileRun::Run(const std::vector<SqlRecord> &records) {
	try {
		RunRecords(records);
	} catch (const FileEnd &end) {
		report_.SkipFile(end.line, end.why);
	}
}

void FileRun::RunRecords(const std::vector<SqlRecord> &records) {
	for (auto &record : records) {
		if (!ConditionsHold(record)) {
			continue;
		}
		try {
			RunRecord(record);
		} catch (const FileEnd &) {
			throw;
		} catch (const std::exception &error) {
			report_.Fail(record.line, duckdb::ErrorData(error).Message());
			throw FileEnd{record.line, "it cannot go on"};
		}
		if (report_.FindingsInFile() >= options_.max_findings) {
			throw FileEnd{record.line, "enough was found"};
		}
		if (continue_) {
			return;
		}
	}
}

void FileRun::RunRecord(const SqlRecord &record) {
	switch (record.kind) {
	case Kind::STATEMENT:
	case Kind::QUERY:
		return RunStatement(record);
	case Kind::LOOP:
		return RunLoop(record);
	case Kind::REQUIRE:
		if (!IsFulfilled(record.words, plain_, skein_)) {
			throw FileEnd{record.line, "require " + record.WordText()};
		}
		return;
	case Kind::REQUIRE_ENV:
		return RequireEnvironment(record);
	case Kind::TEST_ENV:
		if (!variables_.Find(record.words[0])) {
			variables_.Define(record.words[0], record.words[1]);
		}
		return;
	case Kind::LOAD:
		return Load(record);
	case Kind::RESTART: {
		auto with_extensions = record.words.empty() || record.words[0] != "no_extension_load";
		plain_.Restart(with_extensions);
		skein_.Restart(with_extensions);
		return;
	}
	case Kind::RECONNECT:
		plain_.Reconnect();
		skein_.Reconnect();
		return;
	case Kind::SLEEP:
		return Sleep(record);
	case Kind::UNZIP:
		return Unzip(record);
	case Kind::SET_SEED: {
		auto sql = "SELECT setseed(" + record.words[0] + ")";
		plain_.Run("", sql, sql);
		skein_.Run("", sql, sql);
		return;
	}
	case Kind::IGNORE_ERRORS:
		return IgnoreErrors(record);
	case Kind::RESET_LABEL:
		return expectation_.ResetLabel(record.label);
	case Kind::HASH_THRESHOLD:
		return expectation_.SetHashThreshold(std::stoull(record.words[0]));
	case Kind::CONTINUE:
		continue_ = true;
		return;
	case Kind::MODE:
		return SetMode(record);
	}
}

void FileRun::RunLoop(const SqlRecord &record) {
	if (record.concurrent) {
		report_.Skip(record.line, "a loop with rounds at the same time");
		return;
	}
	for (auto &value : record.values) {
		variables_.PushLoop(record.variable, value);
		RunRecords(record.body);
		variables_.PopLoop();
		continue_ = false;
	}
}

bool FileRun::ConditionsHold(const SqlRecord &record) const {
	using Comparison = LoopCondition::Comparison;
	for (auto &condition : record.conditions) {
		auto value = variables_.FindLoop(condition.variable);
		if (!value) {
			throw FileEnd{record.line, "no loop has a variable " + condition.variable};
		}
		auto is_text = condition.comparison == Comparison::EQUAL || condition.comparison == Comparison::NOT_EQUAL;
		auto left = is_text ? 0 : std::stoll(*value);
		auto right = is_text ? 0 : std::stoll(condition.value);
		auto holds = condition.comparison == Comparison::EQUAL			 ? *value == condition.value
					 : condition.comparison == Comparison::NOT_EQUAL	 ? *value != condition.value
					 : condition.comparison == Comparison::LESS			 ? left < right
					 : condition.comparison == Comparison::LESS_OR_EQUAL ? left <= right
					 : condition.comparison == Comparison::GREATER		 ? left > right
																		 : left >= right;
		if (holds == condition.skip_if) {
			return false;
		}
	}
	return true;
}

void FileRun::RunStatement(const SqlRecord &record) {
	auto sql = variables_.Replace(record.sql);
	if (IsVerification(sql)) {
		return;
	}
	auto what = path_ + ":" + std::to_string(record.line) + " [" + configuration_ + "]: " + sql;
	if (options_.trace) {
		std::cerr << what << std::endl;
	}
	auto plain = plain_.Run(record.connection, sql, "plain " + what);
	if (plain.timed_out) {
		throw FileEnd{record.line, "plain DuckDB takes too long"};
	}
	auto skein = skein_.Run(record.connection, sql, what);
	if (IsIgnored(plain)) {
		throw FileEnd{record.line, plain.ErrorLine()};
	}
	random_content_ = random_content_ || (IsRandom(sql) && !ReadsOnly(plain_.Connection(""), sql));
	Settle(record, sql, plain, skein);
	Keep(record, sql, plain, skein);
}

//! Finds and reports what is to be said of a statement.
void FileRun::Settle(const SqlRecord &record, const std::string &sql, const LaneOutcome &plain,
					 const LaneOutcome &skein) {
	auto repeat_plain = [&] { return plain_.Run(record.connection, sql, "again " + sql); };
	auto repeat_skein_alone = [&] { return skein_.RunAlone(record.connection, sql, "alone " + sql); };
	auto verdict = judge_.Decide({record, sql, plain, skein, random_content_, repeat_plain, repeat_skein_alone},
								 plain_.Connection(record.connection), skein_.Connection(record.connection));
	auto is_query = record.kind == Kind::QUERY || (skein.plan && skein.plan->distributed);
	if (alone_ && record.kind == Kind::QUERY) {
		report_.Fail(record.line, "a query in mode alone tests nothing");
	} else if (is_query || verdict.kind == Verdict::Kind::DIFFERENT || verdict.alone_mismatch) {
		report_.Add(record.line, sql, verdict);
	}
	if (must_distribute_ && record.kind == Kind::QUERY) {
		CheckDistributed(record, skein);
	}
}

void FileRun::CheckDistributed(const SqlRecord &record, const LaneOutcome &skein) {
	if (!skein.plan || !skein.plan->distributed) {
		report_.Fail(record.line, "was not distributed" + (skein.plan ? ": " + skein.plan->reason : ""));
	}
}

//! Keeps the lanes in step after a statement that had an effect in one of them only.
void FileRun::Keep(const SqlRecord &record, const std::string &sql, const LaneOutcome &plain,
				   const LaneOutcome &skein) {
	auto type = skein.error.Type();
	if (type == duckdb::ExceptionType::FATAL || type == duckdb::ExceptionType::INTERNAL) {
		if (!plain.answer && plain.error.Type() == type) {
			throw FileEnd{record.line, plain.ErrorLine()};
		}
		throw FileEnd{record.line, "the database with Skein may be broken"};
	}
	if (plain.answer.has_value() == skein.answer.has_value() || ReadsOnly(plain_.Connection(""), sql)) {
		return;
	}
	if (!plain.answer || !skein_.RunAlone(record.connection, sql, sql).answer) {
		throw FileEnd{record.line, "the two databases no longer hold the same"};
	}
}

bool FileRun::IsIgnored(const Outcome &outcome) const {
	return !outcome.answer && std::any_of(ignored_errors_.begin(), ignored_errors_.end(), [&](auto &text) {
		return StringUtil::Contains(outcome.error.Message(), text);
	});
}

void FileRun::Load(const SqlRecord &record) {
	auto &words = record.words;
	auto path = words.empty() ? "" : variables_.Replace(words[0]);
	auto read_only = words.size() > 1 && StringUtil::Lower(words[1]) == "readonly";
	auto version = words.size() > 2 ? words[2] : "";
	plain_.Load(path, read_only, version);
	skein_.Load(path, read_only, version);
}

void FileRun::Sleep(const SqlRecord &record) {
	auto count = std::stoull(record.words[0]);
	auto unit = SleepUnit(record.words[1]);
	auto time = count > static_cast<size_t>(LONGEST_SLEEP / unit) ? LONGEST_SLEEP : count * unit;
	std::this_thread::sleep_for(time);
}

void FileRun::Unzip(const SqlRecord &record) {
	auto from = variables_.Replace(record.words[0]);
	auto name = std::filesystem::path(from).stem().string();
	auto given = record.words.size() > 1 && record.words[1] != "NULL";
	auto to = given ? variables_.Replace(record.words[1]) : folder_.Path() + "/" + name;
	std::ifstream stream(from, std::ios::binary);
	std::string packed((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
	auto content = duckdb::GZipFileSystem::UncompressGZIPString(packed);
	for (auto lane : {PLAIN, SKEIN}) {
		folder_.Select(lane);
		std::ofstream(to, std::ios::binary) << content;
	}
}

void FileRun::RequireEnvironment(const SqlRecord &record) {
	auto value = variables_.Find(record.words[0]);
	if (!value || (record.words.size() > 1 && *value != record.words[1])) {
		throw FileEnd{record.line, "require-env " + record.words[0]};
	}
}

void FileRun::IgnoreErrors(const SqlRecord &record) {
	ignored_errors_.clear();
	auto list = record.WordText();
	for (auto &text : StringUtil::Split(list, ",")) {
		StringUtil::Trim(text);
		if (!text.empty()) {
			ignored_errors_.push_back(text);
		}
	}
}

void FileRun::SetMode(const SqlRecord &record) {
	auto &mode = record.words[0];
	if (mode == "must_distribute" || mode == "may_distribute") {
		must_distribute_ = mode == "must_distribute";
	} else if (mode == "alone" || mode == "distributed") {
		alone_ = mode == "alone";
		skein_.Distribute(!alone_);
	} else if (mode != "output_hash" && mode != "output_result" && mode != "no_output" && mode != "debug") {
		report_.Fail(record.line, "unknown mode " + mode);
	}
}

} // namespace skein::test
