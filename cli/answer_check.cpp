#include "answer_check.hpp"

namespace skein::cli {

AnswerCheck::AnswerCheck(duckdb::Connection &alone, const std::string &sql, Answer expected)
	: alone_(alone), expected_(std::move(expected)) {
	auto statements = alone_.ExtractStatements(sql);
	statement_ = std::move(statements.back());
	order_ = FindOrder(*statement_, expected_);
}

std::optional<std::string> AnswerCheck::FindDifferenceTo(const Answer &actual) {
	auto difference = FindDifference(expected_, actual, order_);
	auto without_limit = difference ? WithoutLimit(*statement_) : nullptr;
	if (!without_limit) {
		return difference;
	}
	if (!unlimited_) {
		auto result = alone_.Query(std::move(without_limit));
		if (result->HasError()) {
			result->ThrowError();
		}
		unlimited_ = Answer::From(*result);
	}
	if (FindIllegalChoice(expected_, *unlimited_, actual, order_)) {
		return difference;
	}
	saw_ties_ = true;
	return std::nullopt;
}

} // namespace skein::cli
