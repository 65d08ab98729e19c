#include "fuzz/edit_walk.hpp"

#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/expression/subquery_expression.hpp"
#include "duckdb/parser/expression/window_expression.hpp"
#include "duckdb/parser/expression/conjunction_expression.hpp"
#include "duckdb/parser/parsed_expression_iterator.hpp"
#include "duckdb/parser/query_node/recursive_cte_node.hpp"
#include "duckdb/parser/query_node/set_operation_node.hpp"
#include "duckdb/parser/statement/select_statement.hpp"
#include "duckdb/parser/tableref/basetableref.hpp"
#include "duckdb/parser/tableref/expressionlistref.hpp"
#include "duckdb/parser/tableref/joinref.hpp"
#include "duckdb/parser/tableref/subqueryref.hpp"

#include <algorithm>

namespace skein::fuzz {
namespace {

using duckdb::ExpressionClass;
using duckdb::ParsedExpression;
using duckdb::QueryNode;
using duckdb::ResultModifierType;
using duckdb::TableRef;
using duckdb::unique_ptr;

//! Tables that may stand for all that have their columns; the first ones are the simplest.
const std::vector<std::string> SIMPLE_TABLES{"single", "hollow", "even"};
const std::vector<std::string> OTHER_TABLES{"sparse", "skewed",		 "norows",		  "lopsided",	"repeated",
											"longer", "native_even", "native_norows", "temp_sparse"};

bool IsLimit(ResultModifierType type) {
	return type == ResultModifierType::LIMIT_MODIFIER || type == ResultModifierType::LIMIT_PERCENT_MODIFIER;
}

bool HasModifier(const QueryNode &node, const std::function<bool(ResultModifierType)> &matches) {
	return std::any_of(node.modifiers.begin(), node.modifiers.end(),
					   [&](auto &modifier) { return matches(modifier->type); });
}

void RemoveModifiers(QueryNode &node, const std::function<bool(ResultModifierType)> &matches) {
	auto &modifiers = node.modifiers;
	modifiers.erase(
		std::remove_if(modifiers.begin(), modifiers.end(), [&](auto &modifier) { return matches(modifier->type); }),
		modifiers.end());
}

//! Whether the value depends on an order that its own arguments make complete.
bool IsOrderSensitive(const duckdb::FunctionExpression &function) {
	auto &name = function.function_name;
	return (function.order_bys && !function.order_bys->orders.empty()) || name == "arg_min" || name == "arg_max" ||
		   name == "max_by" || name == "min_by";
}

//! Whether it sorts what has no order without it: DuckDB's parser makes list_sort(list(x)) of list(x ORDER BY x).
bool GivesOrder(const ParsedExpression &expression) {
	return expression.GetExpressionClass() == ExpressionClass::FUNCTION &&
		   duckdb::StringUtil::Contains(expression.Cast<duckdb::FunctionExpression>().function_name, "sort");
}

} // namespace

bool EditWalk::Apply(unique_ptr<QueryNode> &node) {
	Node(node);
	return done_;
}

void EditWalk::Node(unique_ptr<QueryNode> &node) {
	if (done_) {
		return;
	}
	if (node->type == duckdb::QueryNodeType::SET_OPERATION_NODE) {
		auto &children = node->Cast<duckdb::SetOperationNode>().children;
		for (size_t i = 0; i < children.size(); i++) {
			if (IsNext()) {
				auto child = std::move(children[i]);
				node = std::move(child);
				return;
			}
		}
		for (size_t i = 0; children.size() > 2 && i < children.size(); i++) {
			if (IsNext()) {
				children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
				return;
			}
		}
	} else if (node->type == duckdb::QueryNodeType::SELECT_NODE) {
		auto &from = node->Cast<duckdb::SelectNode>().from_table;
		// What the query in FROM returns instead of what is made of it.
		if (from && from->type == duckdb::TableReferenceType::SUBQUERY && node->cte_map.map.empty() && IsNext()) {
			auto inner = std::move(from->Cast<duckdb::SubqueryRef>().subquery->node);
			node = std::move(inner);
			return;
		}
	}
	Modifiers(*node);
	Ctes(*node);
	switch (node->type) {
	case duckdb::QueryNodeType::SET_OPERATION_NODE:
		for (auto &child : node->Cast<duckdb::SetOperationNode>().children) {
			Node(child);
		}
		return;
	case duckdb::QueryNodeType::RECURSIVE_CTE_NODE:
		Node(node->Cast<duckdb::RecursiveCTENode>().left);
		Node(node->Cast<duckdb::RecursiveCTENode>().right);
		return;
	case duckdb::QueryNodeType::SELECT_NODE:
		return Select(node->Cast<duckdb::SelectNode>());
	default:
		return;
	}
}

void EditWalk::Modifiers(QueryNode &node) {
	auto is_order = [](ResultModifierType type) { return type == ResultModifierType::ORDER_MODIFIER; };
	auto is_distinct = [](ResultModifierType type) { return type == ResultModifierType::DISTINCT_MODIFIER; };
	auto needs_order = HasModifier(node, IsLimit) || HasModifier(node, is_distinct);
	if (HasModifier(node, IsLimit) && IsNext()) {
		return RemoveModifiers(node, [&](auto type) { return IsLimit(type) || is_order(type); });
	}
	if (HasModifier(node, IsLimit) && IsNext()) {
		return RemoveModifiers(node, IsLimit);
	}
	if (HasModifier(node, is_distinct) && IsNext()) {
		return RemoveModifiers(node, is_distinct);
	}
	if (HasModifier(node, is_order) && !needs_order && IsNext()) {
		return RemoveModifiers(node, is_order);
	}
	for (auto &modifier : node.modifiers) {
		if (modifier->type == ResultModifierType::ORDER_MODIFIER && !needs_order) {
			auto &orders = modifier->Cast<duckdb::OrderModifier>().orders;
			for (size_t i = 0; orders.size() > 1 && i < orders.size(); i++) {
				if (IsNext()) {
					orders.erase(orders.begin() + static_cast<std::ptrdiff_t>(i));
					return;
				}
			}
		}
		if (modifier->type == ResultModifierType::LIMIT_MODIFIER) {
			auto &limit = modifier->Cast<duckdb::LimitModifier>();
			if (limit.limit && limit.offset && IsNext()) {
				limit.offset.reset();
				return;
			}
		}
	}
}

void EditWalk::Ctes(QueryNode &node) {
	auto &entries = node.cte_map.map;
	for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
		if (IsNext()) {
			entries.erase(entry);
			return;
		}
		auto &cte = *entry->second;
		if (cte.materialized != duckdb::CTEMaterialize::CTE_MATERIALIZE_DEFAULT && IsNext()) {
			cte.materialized = duckdb::CTEMaterialize::CTE_MATERIALIZE_DEFAULT;
			return;
		}
		if (cte.query) {
			Node(cte.query->node);
		}
		if (done_) {
			return;
		}
	}
}

void EditWalk::Select(duckdb::SelectNode &node) {
	Optional(node.where_clause);
	Optional(node.having);
	Optional(node.qualify);
	Groups(node);
	Elements(node.select_list, 1);
	if (node.from_table) {
		From(node.from_table);
	}
}

void EditWalk::Groups(duckdb::SelectNode &node) {
	auto &groups = node.groups;
	if (groups.grouping_sets.size() > 1) {
		for (size_t i = 0; i < groups.grouping_sets.size(); i++) {
			if (IsNext()) {
				groups.grouping_sets.erase(groups.grouping_sets.begin() + static_cast<std::ptrdiff_t>(i));
				return;
			}
		}
	}
	auto plain = groups.grouping_sets.size() == 1 && groups.grouping_sets[0].size() == groups.group_expressions.size();
	for (size_t i = 0; plain && i < groups.group_expressions.size(); i++) {
		if (IsNext()) {
			groups.group_expressions.erase(groups.group_expressions.begin() + static_cast<std::ptrdiff_t>(i));
			groups.grouping_sets[0].erase(groups.group_expressions.size());
			if (groups.group_expressions.empty()) {
				groups.grouping_sets.clear();
			}
			return;
		}
	}
}

void EditWalk::From(unique_ptr<TableRef> &table) {
	if (done_) {
		return;
	}
	if (table->type != duckdb::TableReferenceType::JOIN) {
		return Table(*table);
	}
	auto &join = table->Cast<duckdb::JoinRef>();
	if (IsNext()) {
		auto left = std::move(join.left);
		table = std::move(left);
		return;
	}
	if (IsNext()) {
		auto right = std::move(join.right);
		table = std::move(right);
		return;
	}
	From(join.left);
	From(join.right);
	if (join.condition) {
		Expression(join.condition, true);
	}
	for (size_t i = 0; join.using_columns.size() > 1 && i < join.using_columns.size(); i++) {
		if (IsNext()) {
			join.using_columns.erase(join.using_columns.begin() + static_cast<std::ptrdiff_t>(i));
			return;
		}
	}
}

void EditWalk::Table(TableRef &table) {
	switch (table.type) {
	case duckdb::TableReferenceType::SUBQUERY:
		return Node(table.Cast<duckdb::SubqueryRef>().subquery->node);
	case duckdb::TableReferenceType::BASE_TABLE: {
		auto &name = table.Cast<duckdb::BaseTableRef>().table_name;
		auto rank = std::find(SIMPLE_TABLES.begin(), SIMPLE_TABLES.end(), name);
		if (rank == SIMPLE_TABLES.end() &&
			std::find(OTHER_TABLES.begin(), OTHER_TABLES.end(), name) == OTHER_TABLES.end()) {
			return;
		}
		for (auto simpler = SIMPLE_TABLES.begin(); simpler != rank; ++simpler) {
			if (IsNext()) {
				is_swap_ = true;
				name = *simpler;
				return;
			}
		}
		return;
	}
	case duckdb::TableReferenceType::EXPRESSION_LIST: {
		auto &rows = table.Cast<duckdb::ExpressionListRef>().values;
		for (size_t i = 0; rows.size() > 1 && i < rows.size(); i++) {
			if (IsNext()) {
				rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
				return;
			}
		}
		return;
	}
	default:
		return;
	}
}

void EditWalk::Elements(Expressions &expressions, size_t least) {
	for (size_t i = 0; expressions.size() > least && i < expressions.size(); i++) {
		if (IsNext()) {
			expressions.erase(expressions.begin() + static_cast<std::ptrdiff_t>(i));
			return;
		}
	}
	for (auto &expression : expressions) {
		Expression(expression, true);
	}
}

void EditWalk::Optional(unique_ptr<ParsedExpression> &expression) {
	if (!expression) {
		return;
	}
	if (IsNext()) {
		expression.reset();
		return;
	}
	Expression(expression, true);
}

void EditWalk::Replace(unique_ptr<ParsedExpression> &expression, bool may_be_constant) {
	auto put = [&](unique_ptr<ParsedExpression> replacement) {
		replacement->SetAlias(expression->GetAlias());
		expression = std::move(replacement);
	};
	duckdb::vector<unique_ptr<ParsedExpression>> children;
	duckdb::ParsedExpressionIterator::EnumerateChildren(
		const_cast<const ParsedExpression &>(*expression),
		[&](const ParsedExpression &child) { children.push_back(child.Copy()); });
	for (auto &child : children) {
		if (!GivesOrder(*expression) && IsNext()) {
			return put(std::move(child));
		}
	}
	if (!may_be_constant) {
		return;
	}
	for (auto &value : {duckdb::Value::INTEGER(1), duckdb::Value::BOOLEAN(true), duckdb::Value("a"), duckdb::Value()}) {
		if (IsNext()) {
			return put(duckdb::make_uniq<duckdb::ConstantExpression>(value));
		}
	}
}

void EditWalk::Expression(unique_ptr<ParsedExpression> &expression, bool may_be_constant) {
	if (done_) {
		return;
	}
	auto kind = expression->GetExpressionClass();
	if (kind == ExpressionClass::CONSTANT || kind == ExpressionClass::COLUMN_REF || kind == ExpressionClass::STAR ||
		kind == ExpressionClass::LAMBDA) {
		return;
	}
	Replace(expression, may_be_constant);
	if (done_) {
		return;
	}
	switch (kind) {
	case ExpressionClass::CONJUNCTION:
		return Elements(expression->Cast<duckdb::ConjunctionExpression>().children, 2);
	case ExpressionClass::SUBQUERY: {
		auto &subquery = expression->Cast<duckdb::SubqueryExpression>();
		if (subquery.child) {
			Expression(subquery.child, true);
		}
		return Node(subquery.subquery->node);
	}
	case ExpressionClass::FUNCTION:
	case ExpressionClass::WINDOW:
		return Function(*expression);
	default:
		duckdb::ParsedExpressionIterator::EnumerateChildren(
			*expression, [&](unique_ptr<ParsedExpression> &child) { Expression(child, true); });
	}
}

void EditWalk::Function(ParsedExpression &expression) {
	if (expression.GetExpressionClass() == ExpressionClass::WINDOW) {
		auto &window = expression.Cast<duckdb::WindowExpression>();
		for (size_t i = 0; i < window.partitions.size(); i++) {
			if (IsNext()) {
				window.partitions.erase(window.partitions.begin() + static_cast<std::ptrdiff_t>(i));
				return;
			}
		}
		if (window.filter_expr) {
			Optional(window.filter_expr);
		}
		for (auto &child : window.children) {
			Expression(child, true);
		}
		return;
	}
	auto &function = expression.Cast<duckdb::FunctionExpression>();
	if (function.distinct && IsNext()) {
		function.distinct = false;
		return;
	}
	Optional(function.filter);
	if (!IsOrderSensitive(function)) {
		for (auto &child : function.children) {
			Expression(child, true);
		}
	}
}

} // namespace skein::fuzz
