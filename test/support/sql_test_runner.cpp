#include "sql_test_runner.hpp"

#include "skein/skein.hpp"

#include <algorithm>
#include <iostream>
#include <stdexcept>

namespace skein::test {
namespace {

using Kind = SqlTestRecord::Kind;
using duckdb::idx_t;

std::string ValueText(const duckdb::Value &value) {
	if (value.IsNull()) {
		return "NULL";
	}
	auto text = value.ToString();
	return text.empty() ? "(empty)" : text;
}

std::vector<std::string> RowTexts(const cli::Answer &answer) {
	std::vector<std::string> result;
	for (auto &row : answer.rows) {
		std::string text;
		for (auto &value : row) {
			text += (text.empty() ? "" : "\t") + ValueText(value);
		}
		result.push_back(text);
	}
	return result;
}

void Set(duckdb::Connection &connection, const std::string &name, const std::string &value) {
	auto outcome = RunSql(connection, "SET " + name + " = " + duckdb::Value(value).ToSQLString());
	if (!outcome.answer) {
		throw std::runtime_error("cannot set " + name + ": " + outcome.ErrorLine());
	}
}

} // namespace

SqlTestDatabase::SqlTestDatabase() {
	duckdb::DBConfig config;
	config.SetOptionByName("allow_unsigned_extensions", true);
	config.SetOptionByName("autoinstall_known_extensions", false);
	database = duckdb::make_uniq<duckdb::DuckDB>(nullptr, &config);
	Attach(*database->instance);
	connection = duckdb::make_uniq<duckdb::Connection>(*database);
}

SqlTestRunner::SqlTestRunner(std::string path, const SqlTestFile &file, Options options)
	: path_(std::move(path)), file_(file), options_(std::move(options)) {
}

void SqlTestRunner::RunFixture() {
	configuration_ = "fixture";
	SqlTestDatabase database;
	Set(*database.connection, "skein_mode", "off");
	State state{*database.connection, Oracle(*database.connection)};
	state.alone = true;
	for (auto &record : file_.fixture) {
		RunRecord(state, record);
	}
}

void SqlTestRunner::Run(const Configuration &configuration) {
	configuration_ = configuration.name;
	SqlTestDatabase database;
	auto &connection = *database.connection;
	Configure(connection, configuration);
	State state{connection, Oracle(connection)};
	auto failures_before = failures_;
	for (auto &record : file_.records) {
		RunRecord(state, record);
		if (failures_ - failures_before >= options_.max_failures) {
			std::cerr << path_ << " [" << configuration_ << "]: given up after " << options_.max_failures
					  << " failures\n";
			return;
		}
	}
}

void SqlTestRunner::Configure(duckdb::Connection &connection, const Configuration &configuration) {
	Set(connection, "skein_mode", "force");
	if (configuration.processes > 0) {
		Set(connection, "skein_cluster", options_.cluster);
	}
	for (auto &[name, value] : configuration.settings) {
		Set(connection, name, value);
	}
}

void SqlTestRunner::RunRecord(State &state, const SqlTestRecord &record) {
	if (options_.trace) {
		std::cerr << path_ << ":" << record.line << " [" << configuration_ << "]: " << record.text << std::endl;
	}
	try {
		switch (record.kind) {
		case Kind::STATEMENT_OK:
			return RunStatement(state, record);
		case Kind::STATEMENT_ERROR:
			return ExpectError(state, record);
		case Kind::QUERY:
			return RunQuery(state, record);
		case Kind::REQUIRE:
			return Require(state, record);
		case Kind::MODE:
			return SetMode(state, record);
		}
	} catch (const std::exception &error) {
		Fail(record, duckdb::ErrorData(error).Message());
	}
}

void SqlTestRunner::RunStatement(State &state, const SqlTestRecord &record) {
	auto outcome = RunWatched(state.connection, record);
	if (!outcome.answer) {
		Fail(record, outcome.ErrorLine());
	}
}

void SqlTestRunner::ExpectError(State &state, const SqlTestRecord &record) {
	auto alone = state.oracle.RunAlone(record.text);
	auto distributed = RunWatched(state.connection, record);
	if (alone.answer) {
		return Fail(record, "plain DuckDB has no error here");
	}
	if (distributed.answer) {
		return Fail(record, "no error, expected " + alone.ErrorLine());
	}
	if (distributed.error.Type() != alone.error.Type()) {
		return Fail(record, "another class of error: " + distributed.ErrorLine() + " instead of " + alone.ErrorLine());
	}
	for (auto &part : record.expected) {
		if (!duckdb::StringUtil::Contains(distributed.error.Message(), part)) {
			Fail(record, "not in the message: '" + part + "': " + distributed.ErrorLine());
		}
	}
}

void SqlTestRunner::RunQuery(State &state, const SqlTestRecord &record) {
	if (state.alone) {
		return Fail(record, "a query that is not distributed tests nothing");
	}
	queries_++;
	auto alone = state.oracle.RunAlone(record.text);
	auto distributed = RunWatched(state.connection, record);
	if (!alone.answer) {
		return Fail(record, "plain DuckDB fails: " + alone.ErrorLine());
	}
	if (!distributed.answer) {
		return Fail(record, "fails: " + distributed.ErrorLine());
	}
	if (state.must_distribute) {
		CheckDistributed(state, record);
	}
	if (auto difference = state.oracle.FindDifference(record.text, *alone.answer, *distributed.answer)) {
		return Fail(record, *difference);
	}
	if (!record.has_expected) {
		return;
	}
	auto expected = record.expected;
	auto actual = RowTexts(*distributed.answer);
	if (record.row_sort) {
		std::sort(expected.begin(), expected.end());
		std::sort(actual.begin(), actual.end());
	}
	if (expected != actual) {
		std::string text;
		for (auto &row : actual) {
			text += "\n" + row;
		}
		Fail(record, "as plain DuckDB, but not as expected here:" + text);
	}
}

void SqlTestRunner::CheckDistributed(State &state, const SqlTestRecord &record) {
	auto last = RunSql(state.connection, "SELECT distributed, reason FROM skein_last_query()");
	if (!last.answer) {
		return Fail(record, "skein_last_query() fails: " + last.ErrorLine());
	}
	auto &row = last.answer->rows.at(0);
	if (!row[0].GetValue<bool>()) {
		Fail(record, "was not distributed: " + row[1].ToString());
	}
}

void SqlTestRunner::Require(State &state, const SqlTestRecord &record) {
	auto loaded = RunSql(state.connection, "SELECT 1 FROM duckdb_extensions() WHERE loaded AND extension_name = " +
											   duckdb::Value(record.text).ToSQLString());
	if (loaded.answer && !loaded.answer->rows.empty()) {
		return;
	}
	auto file = options_.extension_dir + "/" + record.text + ".duckdb_extension";
	auto outcome = RunSql(state.connection, "LOAD " + duckdb::Value(file).ToSQLString());
	if (!outcome.answer) {
		Fail(record, outcome.ErrorLine());
	}
}

void SqlTestRunner::SetMode(State &state, const SqlTestRecord &record) {
	if (record.text == "must_distribute" || record.text == "may_distribute") {
		state.must_distribute = record.text == "must_distribute";
	} else if (record.text == "alone" || record.text == "distributed") {
		state.alone = record.text == "alone";
		Set(state.connection, "skein_mode", state.alone ? "off" : "force");
	} else {
		Fail(record, "unknown mode " + record.text);
	}
}

Outcome SqlTestRunner::RunWatched(duckdb::Connection &connection, const SqlTestRecord &record) {
	Watchdog::Watch watch(watchdog_, connection,
						  path_ + ":" + std::to_string(record.line) + " [" + configuration_ + "]: " + record.text);
	auto outcome = RunSql(connection, record.text);
	if (watch.TimedOut()) {
		outcome.answer.reset();
		outcome.error = duckdb::ErrorData(duckdb::ExceptionType::INTERRUPT, "it hangs");
	}
	return outcome;
}

void SqlTestRunner::Fail(const SqlTestRecord &record, const std::string &what) {
	failures_++;
	std::cerr << path_ << ":" << record.line << " [" << configuration_ << "]: " << what << "\n"
			  << record.text << "\n\n";
}

} // namespace skein::test
