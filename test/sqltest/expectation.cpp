#include "expectation.hpp"

#include "test/support/oracle.hpp"

#include "duckdb/common/crypto/md5.hpp"

#include <algorithm>
#include <regex>

namespace skein::test {
namespace {

using duckdb::StringUtil;
using Rows = std::vector<std::vector<std::string>>;
using Values = std::vector<std::string>;

const std::string REGEX_PREFIX = "<REGEX>:";
const std::string NOT_REGEX_PREFIX = "<!REGEX>:";
const std::string FILE_PREFIX = "<FILE>:";

bool IsRegex(const std::string &text) {
	return StringUtil::StartsWith(text, REGEX_PREFIX) || StringUtil::StartsWith(text, NOT_REGEX_PREFIX);
}

bool IsHash(const Values &expected) {
	static const std::regex PATTERN("[0-9]+ values hashing to [0-9a-z]{32}");
	return expected.size() == 1 && std::regex_match(expected[0], PATTERN);
}

Rows ToRows(const Values &values, size_t columns) {
	Rows rows;
	for (size_t begin = 0; begin + columns <= values.size(); begin += columns) {
		rows.emplace_back(values.begin() + static_cast<long>(begin),
						  values.begin() + static_cast<long>(begin + columns));
	}
	return rows;
}

Values ToValues(const Rows &rows) {
	Values values;
	for (auto &row : rows) {
		values.insert(values.end(), row.begin(), row.end());
	}
	return values;
}

void SortRows(Values &values, size_t columns) {
	auto rows = ToRows(values, columns);
	std::sort(rows.begin(), rows.end());
	values = ToValues(rows);
}

Values SortedValues(const SqlRecord &query, const AnswerText &answer) {
	auto values = ToValues(query.sort == SqlRecord::Sort::ROWS ? answer.Sorted().rows : answer.rows);
	if (query.sort == SqlRecord::Sort::VALUES) {
		std::sort(values.begin(), values.end());
	}
	return values;
}

std::string HashOf(const Values &values) {
	duckdb::MD5Context context;
	for (auto &value : values) {
		context.Add(value);
		context.Add("\n");
	}
	return std::to_string(values.size()) + " values hashing to " + context.FinishHex();
}

//! Splits lines of whole rows into values. The lines are rows if there are as many as the answer has, or if all hold
//! tabs.
bool SplitRows(Values &lines, const AnswerText &answer) {
	auto columns = answer.types.size();
	auto has_tab = [](auto &line) { return line.find('\t') != std::string::npos; };
	auto by_row =
		(columns > 1 && lines.size() == answer.rows.size()) || std::all_of(lines.begin(), lines.end(), has_tab);
	if (!by_row) {
		return lines.size() % columns == 0;
	}
	Values values;
	for (auto &line : lines) {
		auto split = StringUtil::Split(line, "\t");
		if (split.size() != columns) {
			return false;
		}
		values.insert(values.end(), split.begin(), split.end());
	}
	lines = std::move(values);
	return true;
}

} // namespace

Expectation::Expectation(const Variables &variables)
	: variables_(variables), database_(nullptr), connection_(database_) {
}

std::optional<std::string> Expectation::FindMismatch(const SqlRecord &query, const AnswerText &answer) {
	if (!query.has_expected && query.label.empty()) {
		return std::nullopt;
	}
	if (query.columns > 0 && query.columns != answer.types.size()) {
		return std::to_string(answer.types.size()) + " columns instead of " + std::to_string(query.columns);
	}
	auto values = answer.types.size() * answer.rows.size();
	auto by_hash = !query.label.empty() || (hash_threshold_ > 0 && values > hash_threshold_) || IsHash(query.expected);
	if (by_hash) {
		return FindHashMismatch(query, SortedValues(query, answer));
	}
	return FindValueMismatch(query, answer, false);
}

std::optional<std::string> Expectation::FindMismatchInAnyOrder(const SqlRecord &query, const AnswerText &answer) {
	if (!query.has_expected || !query.label.empty() || IsHash(query.expected)) {
		return std::nullopt;
	}
	return FindValueMismatch(query, answer, true);
}

std::optional<std::string> Expectation::FindHashMismatch(const SqlRecord &query, const Values &values) {
	auto hash = HashOf(values);
	auto expected = hash;
	if (IsHash(query.expected)) {
		expected = query.expected[0];
	} else if (!query.label.empty()) {
		expected = labels_.emplace(query.label, hash).first->second;
	}
	return hash == expected ? std::nullopt : std::optional(hash + " instead of " + expected);
}

std::optional<std::string> Expectation::FindValueMismatch(const SqlRecord &query, const AnswerText &answer,
														  bool any_order) {
	std::string mismatch;
	auto expected = ExpectedValues(query, answer, mismatch);
	if (!expected) {
		return mismatch;
	}
	auto columns = answer.types.size();
	auto actual = SortedValues(query, answer);
	// Where the file's own order is not that of our sort, both are sorted.
	for (auto sorted : {any_order, true}) {
		if (sorted) {
			SortRows(*expected, columns);
			SortRows(actual, columns);
		}
		mismatch.clear();
		for (size_t i = 0; i < actual.size() && mismatch.empty(); i++) {
			if (!ValueMatches(answer.types[i % columns], (*expected)[i], actual[i])) {
				mismatch = "row " + std::to_string(i / columns + 1) + ", column " + std::to_string(i % columns + 1) +
						   " is " + actual[i] + " instead of " + (*expected)[i];
			}
		}
		auto may_sort = any_order || query.sort != SqlRecord::Sort::NONE;
		if (mismatch.empty() || !may_sort) {
			break;
		}
	}
	return mismatch.empty() ? std::nullopt : std::optional(mismatch);
}

std::optional<Values> Expectation::ExpectedValues(const SqlRecord &query, const AnswerText &answer,
												  std::string &mismatch) {
	auto columns = answer.types.size();
	Values expected;
	if (query.expected.size() == 1 && StringUtil::StartsWith(query.expected[0], FILE_PREFIX)) {
		expected = ReadFile(variables_.Replace(query.expected[0].substr(FILE_PREFIX.size())), columns);
	} else {
		expected = query.expected;
		if (!SplitRows(expected, answer)) {
			mismatch = "the expected values are not rows of " + std::to_string(columns);
			return std::nullopt;
		}
	}
	if (expected.size() != answer.rows.size() * columns) {
		mismatch = std::to_string(answer.rows.size()) + " rows instead of " + std::to_string(expected.size() / columns);
		return std::nullopt;
	}
	return expected;
}

Values Expectation::ReadFile(const std::string &path, size_t columns) {
	auto outcome = RunSql(connection_, "FROM read_csv(" + duckdb::Value(path).ToSQLString() +
										   ", header = true, sep = '|', all_varchar = true)");
	if (!outcome.answer) {
		throw std::runtime_error(outcome.ErrorLine());
	}
	Values values;
	for (auto &row : outcome.answer->rows) {
		for (size_t column = 0; column < columns && column < row.size(); column++) {
			values.push_back(row[column].ToString());
		}
	}
	return values;
}

bool Expectation::ValueMatches(const duckdb::LogicalType &type, const std::string &expected,
							   const std::string &actual) {
	if (expected == actual || variables_.Replace(expected) == actual) {
		return true;
	}
	if (IsRegex(expected)) {
		return RegexMatches(expected, actual);
	}
	if (type.id() == duckdb::LogicalTypeId::BOOLEAN) {
		auto number = [](const std::string &text) {
			auto lower = StringUtil::Lower(text);
			return lower == "true" ? "1" : lower == "false" ? "0" : lower;
		};
		return number(expected) == number(actual);
	}
	if (!type.IsNumeric() || expected == "NULL" || actual == "NULL") {
		return false;
	}
	duckdb::Value left(expected);
	duckdb::Value right(actual);
	return left.TryCastAs(*connection_.context, type) && right.TryCastAs(*connection_.context, type) &&
		   duckdb::Value::ValuesAreEqual(*connection_.context, left, right);
}

bool Expectation::RegexMatches(const std::string &expected, const std::string &actual) {
	auto wants_match = StringUtil::StartsWith(expected, REGEX_PREFIX);
	auto pattern = expected.substr((wants_match ? REGEX_PREFIX : NOT_REGEX_PREFIX).size());
	auto result = connection_.Query("SELECT regexp_full_match($1::VARCHAR, $2::VARCHAR, 's')", duckdb::Value(actual),
									duckdb::Value(pattern));
	if (result->HasError()) {
		throw std::runtime_error(result->GetError());
	}
	return result->Fetch()->GetValue(0, 0).GetValue<bool>() == wants_match;
}

bool Expectation::ErrorMatches(const SqlRecord &statement, const std::string &message) {
	auto expected = statement.ExpectedText();
	return StringUtil::Contains(message, expected) || StringUtil::Contains(message, variables_.Replace(expected)) ||
		   (IsRegex(expected) && RegexMatches(expected, message));
}

} // namespace skein::test
