#include "answer_text.hpp"

#include <algorithm>
#include <iterator>

namespace skein::test {
namespace {

constexpr size_t MAX_DIFF_ROWS = 5;
constexpr size_t MAX_ROW_TEXT = 300;

std::string ValueText(duckdb::Connection &connection, const duckdb::Value &value) {
	if (value.IsNull()) {
		return "NULL";
	}
	if (value.type().id() == duckdb::LogicalTypeId::BOOLEAN) {
		return value.GetValue<bool>() ? "1" : "0";
	}
	auto text = value.CastAs(*connection.context, duckdb::LogicalType::VARCHAR).ToString();
	return text.empty() ? "(empty)" : duckdb::StringUtil::Replace(text, std::string("\0", 1), "\\0");
}

std::string RowLine(const std::string &sign, const std::vector<std::string> &row) {
	auto line = sign;
	for (size_t column = 0; column < row.size(); column++) {
		line += (column > 0 ? " | " : " ") + row[column];
	}
	line = duckdb::StringUtil::Replace(line, "\n", "\\n");
	if (line.size() > MAX_ROW_TEXT) {
		line.resize(MAX_ROW_TEXT);
		line += "...";
	}
	return line;
}

} // namespace

AnswerText AnswerText::From(duckdb::Connection &connection, const cli::Answer &answer) {
	AnswerText text;
	text.types.assign(answer.types.begin(), answer.types.end());
	for (auto &row : answer.rows) {
		auto &values = text.rows.emplace_back();
		for (auto &value : row) {
			values.push_back(ValueText(connection, value));
		}
	}
	return text;
}

AnswerText AnswerText::Sorted() const {
	auto result = *this;
	std::sort(result.rows.begin(), result.rows.end());
	return result;
}

std::vector<std::string> SmallDiff(const AnswerText &expected, const AnswerText &actual) {
	auto left = expected.Sorted().rows;
	auto right = actual.Sorted().rows;
	std::vector<std::string> result;
	auto add = [&](auto &rows, auto &others, const std::string &sign) {
		std::vector<std::vector<std::string>> only;
		std::set_difference(rows.begin(), rows.end(), others.begin(), others.end(), std::back_inserter(only));
		for (size_t i = 0; i < only.size() && i < MAX_DIFF_ROWS; i++) {
			result.push_back(RowLine(sign, only[i]));
		}
		if (only.size() > MAX_DIFF_ROWS) {
			result.push_back(sign + " ... " + std::to_string(only.size() - MAX_DIFF_ROWS) + " more");
		}
	};
	add(left, right, "-");
	add(right, left, "+");
	return result;
}

} // namespace skein::test
