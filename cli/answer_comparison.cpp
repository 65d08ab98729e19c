#include "answer_comparison.hpp"

#include "row_matching.hpp"

#include "duckdb/common/type_visitor.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/result_modifier.hpp"
#include "duckdb/parser/statement/select_statement.hpp"

#include <algorithm>
#include <numeric>

namespace skein::cli {
namespace {

using duckdb::idx_t;
using duckdb::ParsedExpression;

//! The query at the top of a statement, or nullptr when it is none.
const duckdb::QueryNode *TopNode(const duckdb::SQLStatement &statement) {
	if (statement.type != duckdb::StatementType::SELECT_STATEMENT) {
		return nullptr;
	}
	return statement.Cast<duckdb::SelectStatement>().node.get();
}

bool HasStar(const duckdb::SelectNode &node) {
	return std::any_of(node.select_list.begin(), node.select_list.end(), [](auto &expression) {
		return expression->GetExpressionClass() == duckdb::ExpressionClass::STAR;
	});
}

//! Finds which columns of an answer one sort key is.
class SortKeyFinder {
public:
	SortKeyFinder(const duckdb::QueryNode &node, const Answer &answer) : node_(node), answer_(answer) {
	}

	//! Empty when it is none.
	std::vector<idx_t> Find(const ParsedExpression &key) const {
		switch (key.GetExpressionClass()) {
		case duckdb::ExpressionClass::STAR: {
			// ORDER BY ALL
			std::vector<idx_t> all(answer_.names.size());
			std::iota(all.begin(), all.end(), idx_t(0));
			return all;
		}
		case duckdb::ExpressionClass::CONSTANT:
			return FindPosition(key.Cast<duckdb::ConstantExpression>().value);
		case duckdb::ExpressionClass::COLUMN_REF: {
			auto &column = key.Cast<duckdb::ColumnRefExpression>();
			return column.IsQualified() ? FindQualified(column) : FindName(column.GetColumnName());
		}
		default:
			return FindExpression(key);
		}
	}

private:
	std::vector<idx_t> FindPosition(const duckdb::Value &position) const {
		if (position.IsNull() || !position.type().IsIntegral()) {
			return {};
		}
		auto number = position.GetValue<int64_t>();
		if (number < 1 || static_cast<idx_t>(number) > answer_.names.size()) {
			return {};
		}
		return {static_cast<idx_t>(number) - 1};
	}

	std::vector<idx_t> FindName(const std::string &name) const {
		std::vector<idx_t> result;
		for (idx_t column = 0; column < answer_.names.size(); column++) {
			if (duckdb::StringUtil::CIEquals(answer_.names[column], name)) {
				result.push_back(column);
			}
		}
		return result.size() == 1 ? result : std::vector<idx_t>();
	}

	//! `t.a` is a column of the table, never an alias.
	std::vector<idx_t> FindQualified(const duckdb::ColumnRefExpression &key) const {
		if (node_.type != duckdb::QueryNodeType::SELECT_NODE) {
			return {};
		}
		auto &select = node_.Cast<duckdb::SelectNode>();
		if (HasStar(select)) {
			return select.select_list.size() == 1 ? FindName(key.GetColumnName()) : std::vector<idx_t>();
		}
		return FindExpression(key);
	}

	std::vector<idx_t> FindExpression(const ParsedExpression &key) const {
		if (node_.type != duckdb::QueryNodeType::SELECT_NODE) {
			return {};
		}
		auto &select = node_.Cast<duckdb::SelectNode>();
		for (idx_t column = 0; column < select.select_list.size() && !HasStar(select); column++) {
			if (select.select_list[column]->Equals(key)) {
				return {column};
			}
		}
		return {};
	}

	const duckdb::QueryNode &node_;
	const Answer &answer_;
};

std::optional<std::string> FindHeaderDifference(const Answer &expected, const Answer &actual) {
	if (expected.names.size() != actual.names.size()) {
		return std::to_string(actual.names.size()) + " columns instead of " + std::to_string(expected.names.size());
	}
	for (idx_t column = 0; column < expected.names.size(); column++) {
		auto expected_text = expected.names[column] + " " + expected.types[column].ToString();
		auto actual_text = actual.names[column] + " " + actual.types[column].ToString();
		if (expected_text != actual_text) {
			return "column " + std::to_string(column + 1) + " is " + actual_text + " instead of " + expected_text;
		}
	}
	if (expected.rows.size() != actual.rows.size()) {
		return std::to_string(actual.rows.size()) + " rows instead of " + std::to_string(expected.rows.size());
	}
	return std::nullopt;
}

std::optional<std::string> FindOrderDifference(const Answer &expected, const Answer &actual,
											   const std::vector<idx_t> &order) {
	for (size_t row = 0; row < expected.rows.size(); row++) {
		for (auto column : order) {
			if (!ValuesAgree(expected.rows[row][column], actual.rows[row][column])) {
				return "row " + std::to_string(row + 1) + " is out of order: " + expected.names[column] + " is " +
					   actual.rows[row][column].ToString() + " instead of " + expected.rows[row][column].ToString();
			}
		}
	}
	return std::nullopt;
}

} // namespace

namespace {

//! The value itself; for VARIANT, which may lay out one value in many ways, its text.
duckdb::Value ComparableValue(duckdb::Value value) {
	if (value.IsNull() || !duckdb::TypeVisitor::Contains(value.type(), duckdb::LogicalTypeId::VARIANT)) {
		return value;
	}
	return duckdb::Value(value.ToString());
}

} // namespace

Answer Answer::From(duckdb::MaterializedQueryResult &result) {
	Answer answer;
	answer.names = result.names;
	answer.types = result.types;
	answer.rows.reserve(result.RowCount());
	for (auto &chunk : result.Collection().Chunks()) {
		for (idx_t row = 0; row < chunk.size(); row++) {
			duckdb::vector<duckdb::Value> values;
			for (idx_t column = 0; column < chunk.ColumnCount(); column++) {
				values.push_back(ComparableValue(chunk.GetValue(column, row)));
			}
			answer.rows.push_back(std::move(values));
		}
	}
	return answer;
}

std::vector<idx_t> FindOrder(const duckdb::SQLStatement &statement, const Answer &answer) {
	std::vector<idx_t> result;
	auto node = TopNode(statement);
	if (!node) {
		return result;
	}
	for (auto &modifier : node->modifiers) {
		if (modifier->type != duckdb::ResultModifierType::ORDER_MODIFIER) {
			continue;
		}
		for (auto &key : modifier->Cast<duckdb::OrderModifier>().orders) {
			auto columns = SortKeyFinder(*node, answer).Find(*key.expression);
			if (columns.empty()) {
				return result;
			}
			result.insert(result.end(), columns.begin(), columns.end());
		}
	}
	return result;
}

duckdb::unique_ptr<duckdb::SQLStatement> WithoutLimit(const duckdb::SQLStatement &statement) {
	if (!TopNode(statement)) {
		return nullptr;
	}
	auto copy = statement.Copy();
	auto &modifiers = copy->Cast<duckdb::SelectStatement>().node->modifiers;
	auto is_limit = [](const duckdb::unique_ptr<duckdb::ResultModifier> &modifier) {
		return modifier->type == duckdb::ResultModifierType::LIMIT_MODIFIER ||
			   modifier->type == duckdb::ResultModifierType::LIMIT_PERCENT_MODIFIER;
	};
	auto end = std::remove_if(modifiers.begin(), modifiers.end(), is_limit);
	if (end == modifiers.end()) {
		return nullptr;
	}
	modifiers.erase(end, modifiers.end());
	return copy;
}

std::optional<std::string> FindDifference(const Answer &expected, const Answer &actual,
										  const std::vector<idx_t> &order) {
	if (auto difference = FindHeaderDifference(expected, actual)) {
		return difference;
	}
	// With as many rows on both sides, each with a partner of its own, the multisets are equal.
	if (auto row = FindRowWithoutPartner(actual.types, actual.rows, expected.rows)) {
		return "row " + std::to_string(*row + 1) + " is not expected: " + RowText(actual.rows[*row]);
	}
	return FindOrderDifference(expected, actual, order);
}

std::optional<std::string> FindIllegalChoice(const Answer &expected, const Answer &unlimited, const Answer &actual,
											 const std::vector<idx_t> &order) {
	if (auto difference = FindHeaderDifference(expected, actual)) {
		return difference;
	}
	if (auto row = FindRowWithoutPartner(actual.types, actual.rows, unlimited.rows)) {
		return "row " + std::to_string(*row + 1) +
			   " is not expected, even without the limit: " + RowText(actual.rows[*row]);
	}
	return FindOrderDifference(expected, actual, order);
}

} // namespace skein::cli
