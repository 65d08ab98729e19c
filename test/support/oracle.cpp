#include "oracle.hpp"

#include <stdexcept>

namespace skein::test {

std::string Outcome::ErrorLine() const {
	auto &message = error.Message();
	return message.substr(0, message.find('\n'));
}

Outcome RunSql(duckdb::Connection &connection, const std::string &sql) {
	Outcome outcome;
	try {
		auto result = connection.Query(sql);
		if (result->HasError()) {
			outcome.error = result->GetErrorObject();
		} else {
			outcome.answer = cli::Answer::From(*result);
		}
	} catch (const std::exception &error) {
		outcome.error = duckdb::ErrorData(error);
	}
	return outcome;
}

Outcome Oracle::RunAlone(const std::string &sql) {
	auto set_mode = [&](const char *mode) {
		auto result = connection_.Query(std::string("SET skein_mode = '") + mode + "'");
		if (result->HasError()) {
			result->ThrowError();
		}
	};
	set_mode("off");
	auto outcome = RunSql(connection_, sql);
	set_mode("force");
	return outcome;
}

std::optional<std::string> FindDifference(duckdb::Connection &connection, const std::string &sql,
										  const cli::Answer &expected, const cli::Answer &actual,
										  const std::function<Outcome(const std::string &)> &run_alone) {
	auto statements = connection.ExtractStatements(sql);
	auto &statement = *statements.back();
	auto order = cli::FindOrder(statement, expected);
	auto difference = cli::FindDifference(expected, actual, order);
	auto without_limit = difference && !order.empty() ? cli::WithoutLimit(statement) : nullptr;
	if (!without_limit) {
		return difference;
	}
	auto unlimited = run_alone(without_limit->ToString());
	if (!unlimited.answer || cli::FindIllegalChoice(expected, *unlimited.answer, actual, order)) {
		return difference;
	}
	return std::nullopt;
}

std::optional<std::string> Oracle::FindDifference(const std::string &sql, const cli::Answer &expected,
												  const cli::Answer &actual) {
	return test::FindDifference(connection_, sql, expected, actual,
								[this](const std::string &query) { return RunAlone(query); });
}

} // namespace skein::test
