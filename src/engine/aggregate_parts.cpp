#include "engine/aggregate_parts.hpp"

#include "engine/aggregate_choice.hpp"
#include "engine/aggregate_state.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/aggregate_function_catalog_entry.hpp"
#include "duckdb/function/aggregate_function.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"

#include <unordered_map>

namespace skein {

using duckdb::BoundAggregateExpression;
using duckdb::ClientContext;
using duckdb::Expression;
using duckdb::LogicalType;
using duckdb::unique_ptr;
using duckdb::vector;

namespace {

//! How an aggregate comes out of partial results of the same aggregate.
struct CombineRule {
	//! The aggregate over the partial results.
	const char *final_function;
	//! Whether a value counts once however often it occurs: then DISTINCT may go.
	bool ignores_duplicates = false;
};

const std::unordered_map<std::string, CombineRule> &CombineRules() {
	static const std::unordered_map<std::string, CombineRule> rules{
		{"count", {SUM_COUNTS}},
		{"count_star", {SUM_COUNTS}},
		{"sum", {"sum"}},
		{"sum_no_overflow", {"sum"}},
		{"count_if", {"sum"}},
		{"countif", {"sum"}},
		{"min", {"min", /*ignores_duplicates=*/true}},
		{"max", {"max", /*ignores_duplicates=*/true}},
		{"bool_and", {"bool_and", /*ignores_duplicates=*/true}},
		{"bool_or", {"bool_or", /*ignores_duplicates=*/true}},
		{"bit_and", {"bit_and", /*ignores_duplicates=*/true}},
		{"bit_or", {"bit_or", /*ignores_duplicates=*/true}},
		{"bit_xor", {"bit_xor"}},
		{"any_value", {"any_value", /*ignores_duplicates=*/true}},
		{"bitstring_agg", {"bit_or", /*ignores_duplicates=*/true}},
	};
	return rules;
}

//! Whether the catalog's function of this name, bound to the same inputs, is the one that the aggregate runs: not a
//! user's function of the same name, and not one that binding or an optimizer has replaced or wrapped.
bool IsBuiltIn(ClientContext &context, const BoundAggregateExpression &aggregate) {
	if (aggregate.function.name == "sum_no_overflow") {
		// Only the optimizer makes it, out of sum; it cannot be bound by name.
		return aggregate.function.HasSerializationCallbacks();
	}
	vector<unique_ptr<Expression>> inputs;
	for (auto &child : aggregate.children) {
		inputs.push_back(child->Copy());
	}
	auto bound = BindAggregate(context, aggregate.function.name, std::move(inputs));
	return bound && bound->function == aggregate.function && bound->children.size() == aggregate.children.size();
}

//! Partial results of the aggregate itself, combined by the rule's aggregate.
AggregateParts CombineResults(const BoundAggregateExpression &aggregate, const CombineRule &rule) {
	AggregateParts parts;
	// A sum that the optimizer has proved not to overflow over all rows does not overflow over some of them either.
	parts.partial = aggregate.Copy();
	parts.partial->Cast<BoundAggregateExpression>().aggr_type = duckdb::AggregateType::NON_DISTINCT;
	parts.make_final = [final_function = std::string(rule.final_function)](ClientContext &context,
																		   unique_ptr<Expression> partial_column) {
		vector<unique_ptr<Expression>> inputs;
		inputs.push_back(std::move(partial_column));
		auto result = BindAggregate(context, final_function, std::move(inputs));
		if (!result) {
			throw duckdb::InternalException("%s does not take its partial results", final_function);
		}
		return result;
	};
	return parts;
}

//! Partial results are states; the aggregate's own functions combine and finalize them.
AggregateParts CombineStates(ClientContext &context, const BoundAggregateExpression &aggregate) {
	auto state_aggregates = MakeStateAggregates(context, aggregate);
	AggregateParts parts;
	parts.partial = std::move(state_aggregates.partial);
	parts.make_final = std::move(state_aggregates.make_final);
	return parts;
}

} // namespace

std::optional<AggregateParts> SplitAggregate(ClientContext &context, const BoundAggregateExpression &aggregate,
											 std::string &reason) {
	auto &name = aggregate.function.name;
	if (aggregate.order_bys && !aggregate.order_bys->orders.empty()) {
		reason = name + " is ordered: its rows have to be in one place";
		return std::nullopt;
	}
	auto chooses_rows = ChoosesRows(aggregate);
	auto rule = chooses_rows ? CombineRules().end() : CombineRules().find(name);
	auto has_rule = rule != CombineRules().end();
	if (has_rule && aggregate.children.size() > 1) {
		reason = name + " with a number of rows that is not constant cannot be computed from parts";
		return std::nullopt;
	}
	auto chooses = ChoosesARow(aggregate);
	if (!has_rule && !chooses && !chooses_rows && !HasFlatState(aggregate.function)) {
		reason = name + " cannot be computed from parts: the rows of a group have to be in one place";
		return std::nullopt;
	}
	// Sketches of a set and of its distinct values are the same.
	auto ignores_duplicates = has_rule ? rule->second.ignores_duplicates : name == "approx_count_distinct";
	if (aggregate.IsDistinct() && !ignores_duplicates) {
		reason = name + " is DISTINCT: equal values have to be in one place";
		return std::nullopt;
	}
	if (!IsBuiltIn(context, aggregate)) {
		reason = name + " is not the built-in function: nothing is known about its parts";
		return std::nullopt;
	}

	auto parts = has_rule		? CombineResults(aggregate, rule->second)
				 : chooses		? SplitChoice(context, aggregate)
				 : chooses_rows ? SplitChoices(context, aggregate)
								: CombineStates(context, aggregate);
	parts.partial_type = parts.partial->return_type;
	parts.partial->SetAlias("partial " + aggregate.GetName());
	parts.make_final = [make = std::move(parts.make_final), return_type = aggregate.return_type,
						alias = "final " + aggregate.GetName()](ClientContext &final_context,
																unique_ptr<Expression> partial_column) {
		auto result = make(final_context, std::move(partial_column));
		if (result->return_type != return_type) {
			throw duckdb::InternalException("The final aggregate %s returns %s instead of %s", result->ToString(),
											result->return_type.ToString(), return_type.ToString());
		}
		result->SetAlias(alias);
		return result;
	};
	return parts;
}

} // namespace skein
