#include "engine/aggregate_choice.hpp"

#include "engine/aggregate_lists.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/aggregate_function_catalog_entry.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_operator_expression.hpp"

#include <unordered_map>

namespace skein {

using namespace duckdb;

namespace {

//! The fields of a row that a part has chosen, in the order of the arguments.
constexpr const char *FIELDS[] = {"value", "by"};

struct ChoiceRule {
	idx_t arguments;
	//! What chooses within a part, over rows that are never NULL.
	const char *partial_function;
	//! Whether rows whose value is NULL are not looked at.
	bool skips_null_values;
};

//! Without arg_min_nulls_last and arg_max_nulls_last, whose Combine() takes a state without a key for one with a key.
const std::unordered_map<std::string, ChoiceRule> &ChoiceRules() {
	static const std::unordered_map<std::string, ChoiceRule> rules{
		{"first", {1, "first", false}},
		{"arbitrary", {1, "first", false}},
		{"last", {1, "last", false}},
		{"arg_min", {2, "arg_min", true}},
		{"argmin", {2, "arg_min", true}},
		{"min_by", {2, "arg_min", true}},
		{"arg_max", {2, "arg_max", true}},
		{"argmax", {2, "arg_max", true}},
		{"max_by", {2, "arg_max", true}},
		{"arg_min_null", {2, "arg_min_null", false}},
		{"arg_max_null", {2, "arg_max_null", false}},
	};
	return rules;
}

unique_ptr<Expression> Call(ClientContext &context, const string &name, vector<unique_ptr<Expression>> inputs) {
	ErrorData error;
	auto result = FunctionBinder(context).BindScalarFunction(DEFAULT_SCHEMA, name, std::move(inputs), error);
	if (!result) {
		error.Throw();
	}
	return result;
}

unique_ptr<Expression> IsNotNull(unique_ptr<Expression> value) {
	auto result = make_uniq<BoundOperatorExpression>(ExpressionType::OPERATOR_IS_NOT_NULL, LogicalType::BOOLEAN);
	result->children.push_back(std::move(value));
	return result;
}

void AddFilter(BoundAggregateExpression &aggregate, unique_ptr<Expression> filter) {
	if (aggregate.filter) {
		filter = make_uniq<BoundConjunctionExpression>(ExpressionType::CONJUNCTION_AND, std::move(aggregate.filter),
													   std::move(filter));
	}
	aggregate.filter = std::move(filter);
}

unique_ptr<BoundAggregateExpression> MustBind(ClientContext &context, const string &name,
											  vector<unique_ptr<Expression>> inputs) {
	auto result = BindAggregate(context, name, std::move(inputs));
	if (!result) {
		throw InternalException("%s does not take the rows that it chooses from", name);
	}
	return result;
}

//! The first arguments as a struct.
unique_ptr<Expression> PackRow(ClientContext &context, const BoundAggregateExpression &aggregate, idx_t arguments) {
	vector<unique_ptr<Expression>> fields;
	for (idx_t i = 0; i < arguments; i++) {
		fields.push_back(aggregate.children[i]->Copy());
		fields.back()->SetAlias(FIELDS[i]);
	}
	return Call(context, "struct_pack", std::move(fields));
}

} // namespace

unique_ptr<BoundAggregateExpression> BindAggregate(ClientContext &context, const std::string &name,
												   vector<unique_ptr<Expression>> inputs) {
	auto entry = Catalog::GetSystemCatalog(context).GetEntry<AggregateFunctionCatalogEntry>(
		context, DEFAULT_SCHEMA, name, OnEntryNotFound::RETURN_NULL);
	if (!entry) {
		return nullptr;
	}
	FunctionBinder binder(context);
	ErrorData error;
	auto overload = binder.BindFunction(entry->name, entry->functions, inputs, error);
	if (!overload.IsValid()) {
		return nullptr;
	}
	return binder.BindAggregateFunction(entry->functions.GetFunctionByOffset(overload.GetIndex()), std::move(inputs));
}

bool ChoosesARow(const BoundAggregateExpression &aggregate) {
	auto rule = ChoiceRules().find(aggregate.function.name);
	return rule != ChoiceRules().end() && rule->second.arguments == aggregate.children.size();
}

AggregateParts SplitChoice(ClientContext &context, const BoundAggregateExpression &aggregate) {
	auto &name = aggregate.function.name;
	auto &rule = ChoiceRules().at(name);
	vector<unique_ptr<Expression>> inputs;
	inputs.push_back(PackRow(context, aggregate, rule.arguments));
	if (rule.arguments > 1) {
		inputs.push_back(aggregate.children[1]->Copy());
	}
	auto partial = MustBind(context, rule.partial_function, std::move(inputs));
	partial->filter = aggregate.filter ? aggregate.filter->Copy() : nullptr;
	if (rule.skips_null_values) {
		AddFilter(*partial, IsNotNull(aggregate.children[0]->Copy()));
	}
	AggregateParts parts;
	parts.partial = std::move(partial);
	parts.make_final = [name = std::string(name), arguments = rule.arguments](ClientContext &final_context,
																			  unique_ptr<Expression> partial_column) {
		vector<unique_ptr<Expression>> values;
		for (idx_t i = 0; i < arguments; i++) {
			vector<unique_ptr<Expression>> extract;
			extract.push_back(partial_column->Copy());
			extract.push_back(make_uniq<BoundConstantExpression>(Value(FIELDS[i])));
			values.push_back(Call(final_context, "struct_extract", std::move(extract)));
		}
		auto result = MustBind(final_context, name, std::move(values));
		// A part without rows has chosen none.
		AddFilter(*result, IsNotNull(std::move(partial_column)));
		return result;
	};
	return parts;
}

bool ChoosesRows(const BoundAggregateExpression &aggregate) {
	return KeepsFirstRows(aggregate.function) &&
		   aggregate.children.back()->GetExpressionClass() == ExpressionClass::BOUND_CONSTANT;
}

AggregateParts SplitChoices(ClientContext &context, const BoundAggregateExpression &aggregate) {
	AggregateParts parts;
	auto inner = std::make_shared<unique_ptr<Expression>>(aggregate.Copy());
	if (aggregate.children.size() == 2) {
		parts.partial = aggregate.Copy();
	} else {
		vector<unique_ptr<Expression>> inputs;
		inputs.push_back(PackRow(context, aggregate, 2));
		inputs.push_back(aggregate.children[1]->Copy());
		inputs.push_back(aggregate.children[2]->Copy());
		auto partial = MustBind(context, aggregate.function.name, std::move(inputs));
		partial->filter = aggregate.filter ? aggregate.filter->Copy() : nullptr;
		if (!StringUtil::EndsWith(aggregate.function.name, "_nulls_last")) {
			AddFilter(*partial, IsNotNull(aggregate.children[0]->Copy()));
		}
		parts.partial = std::move(partial);
	}
	parts.make_final = [inner](ClientContext &final_context, unique_ptr<Expression> partial_column) {
		return MakeFinalOfLists(final_context, (*inner)->Cast<BoundAggregateExpression>(), std::move(partial_column));
	};
	return parts;
}

} // namespace skein
