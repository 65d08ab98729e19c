#include "plan/columns.hpp"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_distinct.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"

namespace skein {

using namespace duckdb;

void ReplaceColumns(unique_ptr<Expression> &expression, const vector<ColumnBinding> &from,
					const vector<ColumnBinding> &to) {
	if (expression->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
		auto &binding = expression->Cast<BoundColumnRefExpression>().binding;
		auto found = std::find(from.begin(), from.end(), binding);
		if (found != from.end()) {
			binding = to[static_cast<idx_t>(found - from.begin())];
		}
		return;
	}
	ExpressionIterator::EnumerateChildren(*expression,
										  [&](unique_ptr<Expression> &child) { ReplaceColumns(child, from, to); });
}

void ReplaceColumns(LogicalOperator &op, const vector<ColumnBinding> &from, const vector<ColumnBinding> &to) {
	LogicalOperatorVisitor::EnumerateExpressions(op, [&](unique_ptr<Expression> *expression) {
		if (*expression) {
			ReplaceColumns(*expression, from, to);
		}
	});
}

void SubstituteColumns(unique_ptr<Expression> &expression, const vector<ColumnBinding> &from,
					   const vector<unique_ptr<Expression>> &to) {
	if (expression->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
		auto found = std::find(from.begin(), from.end(), expression->Cast<BoundColumnRefExpression>().binding);
		if (found != from.end()) {
			auto alias = expression->GetAlias();
			expression = to[static_cast<idx_t>(found - from.begin())]->Copy();
			expression->SetAlias(std::move(alias));
		}
		return;
	}
	ExpressionIterator::EnumerateChildren(*expression,
										  [&](unique_ptr<Expression> &child) { SubstituteColumns(child, from, to); });
}

vector<unique_ptr<Expression>> CopyAll(const vector<unique_ptr<Expression>> &expressions) {
	vector<unique_ptr<Expression>> result;
	for (auto &expression : expressions) {
		result.push_back(expression->Copy());
	}
	return result;
}

vector<unique_ptr<Expression>> AllColumns(LogicalOperator &op, const vector<LogicalType> &types) {
	vector<unique_ptr<Expression>> result;
	auto bindings = op.GetColumnBindings();
	for (idx_t i = 0; i < bindings.size(); i++) {
		result.push_back(make_uniq<BoundColumnRefExpression>(ColumnName(op, bindings[i]), types[i], bindings[i]));
	}
	return result;
}

vector<ColumnBinding> Columns(const vector<unique_ptr<Expression>> &expressions) {
	vector<ColumnBinding> result;
	for (auto &expression : expressions) {
		if (expression->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
			result.push_back(expression->Cast<BoundColumnRefExpression>().binding);
		}
	}
	return result;
}

bool HasGroupingSets(const LogicalAggregate &aggregate) {
	return aggregate.grouping_sets.size() > 1 || !aggregate.grouping_functions.empty() ||
		   (aggregate.grouping_sets.size() == 1 && aggregate.grouping_sets[0].size() != aggregate.groups.size());
}

bool PassesColumns(const LogicalOperator &op, vector<ColumnBinding> &own, vector<ColumnBinding> &below) {
	const vector<unique_ptr<Expression>> *expressions;
	idx_t table_index;
	if (op.type == LogicalOperatorType::LOGICAL_PROJECTION) {
		expressions = &op.expressions;
		table_index = op.Cast<LogicalProjection>().table_index;
	} else if (op.type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY &&
			   !HasGroupingSets(op.Cast<LogicalAggregate>())) {
		expressions = &op.Cast<LogicalAggregate>().groups;
		table_index = op.Cast<LogicalAggregate>().group_index;
	} else {
		return false;
	}
	for (idx_t i = 0; i < expressions->size(); i++) {
		if ((*expressions)[i]->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
			own.emplace_back(table_index, i);
			below.push_back((*expressions)[i]->Cast<BoundColumnRefExpression>().binding);
		}
	}
	return true;
}

void AddProjection(unique_ptr<LogicalOperator> &op, idx_t table_index, vector<unique_ptr<Expression>> expressions) {
	auto projection = make_uniq<LogicalProjection>(table_index, std::move(expressions));
	if (op->has_estimated_cardinality) {
		projection->SetEstimatedCardinality(op->estimated_cardinality);
	}
	projection->children.push_back(std::move(op));
	projection->ResolveOperatorTypes();
	op = std::move(projection);
}

void AddDistinct(unique_ptr<LogicalOperator> &op, vector<unique_ptr<Expression>> targets, idx_t estimated_cardinality) {
	auto distinct = make_uniq<LogicalDistinct>(DistinctType::DISTINCT);
	distinct->distinct_targets = std::move(targets);
	distinct->SetEstimatedCardinality(estimated_cardinality);
	distinct->children.push_back(std::move(op));
	distinct->ResolveOperatorTypes();
	op = std::move(distinct);
}

std::string ColumnName(const LogicalOperator &op, const ColumnBinding &column) {
	if (op.type == LogicalOperatorType::LOGICAL_PROJECTION) {
		auto &projection = op.Cast<LogicalProjection>();
		return column.table_index == projection.table_index ? op.expressions[column.column_index]->GetName() : string();
	}
	if (op.type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY) {
		auto &aggregate = op.Cast<LogicalAggregate>();
		if (column.table_index == aggregate.group_index) {
			return aggregate.groups[column.column_index]->GetName();
		}
		return column.table_index == aggregate.aggregate_index ? op.expressions[column.column_index]->GetName()
															   : string();
	}
	for (auto &child : op.children) {
		auto name = ColumnName(*child, column);
		if (!name.empty()) {
			return name;
		}
	}
	return string();
}

} // namespace skein
