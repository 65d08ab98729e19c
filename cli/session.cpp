#include "session.hpp"

#include "exit_code.hpp"

#include "skein/skein.hpp"

namespace skein::cli {

void SessionOptions::AddDatabaseTo(CLI::App &app) {
	app.add_option("--database", database, "Database file; by default a database in memory");
}

void SessionOptions::AddTo(CLI::App &app) {
	app.add_option("--set", settings, "A setting, NAME=VALUE; may be repeated")->allow_extra_args(false);
	cluster.AddTo(app);
}

std::pair<std::string, std::string> ParseSetting(const std::string &text) {
	auto equals = text.find('=');
	if (equals == std::string::npos || equals == 0) {
		throw CommandError(ExitCode::WRONG_USAGE, "malformed setting '" + text + "': expected NAME=VALUE");
	}
	return {text.substr(0, equals), text.substr(equals + 1)};
}

void ApplySetting(duckdb::Connection &connection, const std::string &name, const std::string &value) {
	auto sql = duckdb::StringUtil::Format("SET %s = %s", duckdb::SQLIdentifier(name), duckdb::SQLString(value));
	auto result = connection.Query(sql);
	if (result->HasError()) {
		auto reason = duckdb::StringUtil::Replace(result->GetErrorObject().RawMessage(), "\n\n", ". ");
		throw CommandError(ExitCode::WRONG_USAGE, "cannot set " + name + ": " + reason);
	}
}

bool IsClusterUnreachable(const duckdb::ErrorData &error) {
	return error.Type() == duckdb::ExceptionType::IO &&
		   duckdb::StringUtil::Contains(error.RawMessage(), "cannot reach");
}

duckdb::unique_ptr<duckdb::MaterializedQueryResult> Query(duckdb::Connection &connection, const std::string &sql) {
	auto result = connection.Query(sql);
	if (result->HasError()) {
		result->ThrowError();
	}
	return result;
}

Session::Session(const SessionOptions &options) : cluster_(options.cluster) {
	std::vector<std::pair<std::string, std::string>> settings = cluster_.Settings();
	for (auto &text : options.settings) {
		settings.push_back(ParseSetting(text));
	}
	database_ = duckdb::make_uniq<duckdb::DuckDB>(options.database.empty() ? nullptr : options.database.c_str());
	Attach(*database_->instance);
	connection_ = duckdb::make_uniq<duckdb::Connection>(*database_);
	for (auto &[name, value] : settings) {
		ApplySetting(*connection_, name, value);
	}
	interrupt_.Watch(*connection_);
}

Session::~Session() = default;

duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>> Session::Parse(const std::string &sql) {
	return connection_->ExtractStatements(sql);
}

duckdb::unique_ptr<duckdb::QueryResult> Session::Stream(duckdb::unique_ptr<duckdb::SQLStatement> statement) {
	interrupt_.Check();
	auto result = connection_->SendQuery(std::move(statement));
	if (result->HasError()) {
		result->ThrowError();
	}
	return result;
}

} // namespace skein::cli
