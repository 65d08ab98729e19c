#include "expected_answers.hpp"

#include "tables.hpp"

#include <stdexcept>

namespace skein::test {

ExpectedAnswers::ExpectedAnswers(const std::string &folder) : database_(nullptr), connection_(database_) {
	OpenStressTables(connection_, folder);
}

std::optional<std::string> ExpectedAnswers::FindDifference(const std::string &sql, const Outcome &actual) {
	if (!actual.answer) {
		return "failed: " + actual.ErrorLine();
	}
	std::lock_guard<std::mutex> guard(mutex_);
	auto found = answers_.find(sql);
	if (found == answers_.end()) {
		auto outcome = RunLocked(sql);
		if (!outcome.answer) {
			throw std::runtime_error("plain DuckDB cannot run " + sql + ": " + outcome.ErrorLine());
		}
		found = answers_.emplace(sql, std::move(*outcome.answer)).first;
	}
	return test::FindDifference(connection_, sql, found->second, *actual.answer,
								[this](const std::string &query) { return RunLocked(query); });
}

Outcome ExpectedAnswers::RunLocked(const std::string &sql) {
	return RunSql(connection_, sql);
}

} // namespace skein::test
