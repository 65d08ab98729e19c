#include "judge.hpp"

#include "insertion_order.hpp"

#include <numeric>
#include <regex>

namespace skein::test {
namespace {

using duckdb::StatementType;
using duckdb::StringUtil;

//! The last statement of an SQL text, nullptr if it cannot be parsed.
duckdb::unique_ptr<duckdb::SQLStatement> LastStatement(duckdb::Connection &connection, const std::string &sql) {
	try {
		auto statements = connection.ExtractStatements(sql);
		return statements.empty() ? nullptr : std::move(statements.back());
	} catch (const std::exception &) {
		return nullptr;
	}
}

Verdict Agreement(const LaneOutcome &skein) {
	if (!skein.plan) {
		return {Verdict::Kind::LOCAL, "no query", {}, std::nullopt};
	}
	if (!skein.plan->distributed) {
		return {Verdict::Kind::LOCAL, skein.plan->reason, {}, std::nullopt};
	}
	return {};
}

Verdict Different(const std::string &what) {
	return {Verdict::Kind::DIFFERENT, what, {}, std::nullopt};
}

Verdict Open(const std::string &why) {
	return {Verdict::Kind::OPEN, why, {}, std::nullopt};
}

//! The message without values of rows: which of several bad rows is met first is a matter of chance.
std::string WithoutValues(const std::string &message) {
	static const std::regex VALUE("'[^']*'|\"[^\"]*\"|-?[0-9][0-9.:eE+-]*");
	return std::regex_replace(message, VALUE, "?");
}

//! The message without what is new each time, the UUIDs of generated names, without the lane's folder, to which DuckDB
//! resolves the common path, and without what Skein adds: the place.
std::string WithoutPlace(const std::string &message) {
	static const std::regex GENERATED("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
	// DuckDB cuts long lines, also inside of such a name.
	static const std::regex CUT("__pivot_enum_[0-9a-f-]*");
	static const std::regex PLACE(" \\(worker [^ ]+, stage [0-9]+, task [0-9]+\\)");
	static const std::regex LANE_FOLDER("/(plain|skein)/");
	auto result = std::regex_replace(message, GENERATED, "UUID");
	result = std::regex_replace(result, LANE_FOLDER, "/dir/");
	return std::regex_replace(std::regex_replace(result, CUT, "__pivot_enum_UUID"), PLACE, "");
}

//! Whether the messages are the same, if Skein distributed the statement but for the row that was met first.
bool IsSameMessage(const LaneOutcome &plain, const LaneOutcome &skein) {
	auto expected = WithoutPlace(plain.error.RawMessage());
	auto actual = WithoutPlace(skein.error.RawMessage());
	auto distributed = skein.plan && skein.plan->distributed;
	return actual == expected || (distributed && WithoutValues(actual) == WithoutValues(expected));
}

//! Compares rows position by position.
bool IsSameSequence(const cli::Answer &expected, const cli::Answer &actual) {
	std::vector<duckdb::idx_t> all(expected.names.size());
	std::iota(all.begin(), all.end(), duckdb::idx_t(0));
	return !cli::FindDifference(expected, actual, all);
}

//! Whether the rows come as without Skein from the same tables, in which they may lie in another order than in those of
//! plain DuckDB.
bool IsInOwnOrder(const Judge::Case &statement, const cli::Answer &actual) {
	auto alone = statement.repeat_skein_alone();
	return alone.answer && IsSameSequence(*alone.answer, actual);
}

} // namespace

Verdict Judge::Decide(const Case &statement, duckdb::Connection &plain, duckdb::Connection &skein) {
	if (statement.skein.timed_out) {
		return Different("takes too long");
	}
	if (!statement.plain.answer) {
		return CompareErrors(statement);
	}
	if (!statement.skein.answer) {
		return Different("fails: " + statement.skein.error.Message());
	}
	return CompareAnswers(statement, plain, skein);
}

Verdict Judge::CompareErrors(const Case &statement) {
	auto &error = statement.plain.error;
	if (statement.skein.answer) {
		return Different("no error, plain DuckDB has: " + statement.plain.ErrorLine());
	}
	if (statement.skein.error.Type() != error.Type()) {
		return Different("another class of error: " + statement.skein.ErrorLine() + " instead of " +
						 statement.plain.ErrorLine());
	}
	if (!IsSameMessage(statement.plain, statement.skein)) {
		auto verdict = Different("another message");
		verdict.diff = {"- " + error.Message(), "+ " + statement.skein.error.Message()};
		return verdict;
	}
	auto verdict = Agreement(statement.skein);
	verdict.alone_mismatch = FindAloneMismatch(statement, nullptr);
	return verdict;
}

std::optional<std::string> Judge::FindAloneMismatch(const Case &statement, const AnswerText *answer) {
	auto &record = statement.record;
	if (answer) {
		if (record.kind == SqlRecord::Kind::QUERY) {
			return expectation_.FindMismatch(record, *answer);
		}
		auto wanted = record.expects == SqlRecord::Expects::FAILURE;
		return wanted ? std::optional<std::string>("no error") : std::nullopt;
	}
	auto may_fail = record.kind == SqlRecord::Kind::STATEMENT && record.expects != SqlRecord::Expects::SUCCESS;
	if (may_fail && expectation_.ErrorMatches(record, statement.plain.error.Message())) {
		return std::nullopt;
	}
	return statement.plain.ErrorLine();
}

Verdict Judge::CompareAnswers(const Case &statement, duckdb::Connection &plain, duckdb::Connection &skein) {
	auto parsed = LastStatement(plain, statement.sql);
	if (parsed && parsed->type == StatementType::EXPLAIN_STATEMENT) {
		return Open("EXPLAIN shows another plan");
	}
	auto plain_text = AnswerText::From(plain, *statement.plain.answer);
	auto skein_text = AnswerText::From(skein, *statement.skein.answer);
	auto difference = FindDifference(statement, *statement.plain.answer, *statement.skein.answer, plain);
	auto alone_mismatch = FindAloneMismatch(statement, &plain_text);
	if (!difference && !alone_mismatch && !(skein_text.Sorted() == plain_text.Sorted())) {
		difference = expectation_.FindMismatchInAnyOrder(statement.record, skein_text);
	}
	if (!difference) {
		auto verdict = Agreement(statement.skein);
		verdict.alone_mismatch = alone_mismatch;
		return verdict;
	}
	auto is_select = parsed && parsed->type == StatementType::SELECT_STATEMENT;
	auto verdict = ExplainDifference(statement, *difference, is_select, plain);
	if (verdict.kind == Verdict::Kind::DIFFERENT) {
		verdict.diff = SmallDiff(plain_text, skein_text);
	}
	return verdict;
}

Verdict Judge::ExplainDifference(const Case &statement, const std::string &difference, bool is_select,
								 duckdb::Connection &plain) {
	auto &expected = *statement.plain.answer;
	if (!is_select) {
		return statement.random_content ? Open("random values were written") : Different(difference);
	}
	auto again = statement.repeat_plain();
	if (again.answer && FindDifference(statement, expected, *again.answer, plain)) {
		return Open("plain DuckDB gives another answer each time");
	}
	auto alone = statement.repeat_skein_alone();
	if (!alone.answer || !FindDifference(statement, expected, *alone.answer, plain)) {
		return Different(difference);
	}
	if (statement.random_content && !FindDifference(statement, *alone.answer, *statement.skein.answer, plain)) {
		return Agreement(statement.skein);
	}
	return Different(difference + " (also without Skein, on the same tables)");
}

std::optional<std::string> Judge::FindDifference(const Case &statement, const cli::Answer &expected,
												 const cli::Answer &actual, duckdb::Connection &plain) {
	auto is_parsed = LastStatement(plain, statement.sql) != nullptr;
	auto run_alone = [&](const std::string &sql) { return RunSql(plain, sql); };
	auto difference = is_parsed ? test::FindDifference(plain, statement.sql, expected, actual, run_alone)
								: cli::FindDifference(expected, actual, {});
	if (difference || IsSameSequence(expected, actual) || !KeepsInsertionOrder(plain, statement.sql) ||
		IsInOwnOrder(statement, actual)) {
		return difference;
	}
	return "the rows are not in the order of their source";
}

} // namespace skein::test
