#include "planner/rules/step_invariants.hpp"

#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_cteref.hpp"
#include "duckdb/planner/operator/logical_materialized_cte.hpp"
#include "plan/columns.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Whether the operator, over rows that are the same each time, gives the same rows each time and never fails.
bool IsInvariant(Placement &placement, LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_GET:
		break;
	case LogicalOperatorType::LOGICAL_FILTER:
	case LogicalOperatorType::LOGICAL_PROJECTION:
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
	case LogicalOperatorType::LOGICAL_DISTINCT:
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
		break;
	default:
		return false;
	}
	string reason;
	auto invariant = placement.CanTravel(op, reason);
	LogicalOperatorVisitor::EnumerateExpressions(op, [&](unique_ptr<Expression> *expression) {
		invariant = invariant && !(*expression)->IsVolatile() && !(*expression)->CanThrow();
	});
	if (invariant && op.type == LogicalOperatorType::LOGICAL_GET) {
		return IsSourceLeaf(op) && placement.Estimate(op).estimate && placement.Estimate(op).estimate->MayRepeat();
	}
	return invariant;
}

class Hoisting {
public:
	explicit Hoisting(Placement &placement, LogicalOperator &step) : placement_(placement), step_(step) {
	}

	//! Replaces the largest invariant parts below `op`.
	void ReplaceBelow(LogicalOperator &op) {
		for (auto &child : op.children) {
			if (IsInvariantPlan(*child)) {
				hoisted.push_back(Reference(child));
			} else {
				ReplaceBelow(*child);
			}
		}
	}

	//! Materialised CTEs without their reader.
	vector<unique_ptr<LogicalMaterializedCTE>> hoisted;

private:
	bool IsInvariantPlan(LogicalOperator &op) {
		return IsInvariant(placement_, op) &&
			   std::all_of(op.children.begin(), op.children.end(),
						   [&](const unique_ptr<LogicalOperator> &child) { return IsInvariantPlan(*child); });
	}

	static void Rename(LogicalOperator &op, const vector<ColumnBinding> &from, const vector<ColumnBinding> &to) {
		ReplaceColumns(op, from, to);
		for (auto &child : op.children) {
			Rename(*child, from, to);
		}
	}

	//! Puts a reference in the place of `op`; returns the definition.
	unique_ptr<LogicalMaterializedCTE> Reference(unique_ptr<LogicalOperator> &op) {
		op->ResolveOperatorTypes();
		auto from = op->GetColumnBindings();
		auto index = placement_.NewTableIndex();
		vector<string> names;
		for (auto &column : from) {
			names.push_back(ColumnName(*op, column));
		}
		auto reference = make_uniq<LogicalCTERef>(placement_.NewTableIndex(), index, op->types, std::move(names));
		reference->SetEstimatedCardinality(op->EstimateCardinality(placement_.Context()));
		reference->ResolveOperatorTypes();
		auto to = reference->GetColumnBindings();
		auto definition = make_uniq<LogicalMaterializedCTE>("step_input", index, to.size(), std::move(op), nullptr,
															CTEMaterialize::CTE_MATERIALIZE_ALWAYS);
		op = std::move(reference);
		Rename(step_, from, to);
		return definition;
	}

	Placement &placement_;
	LogicalOperator &step_;
};

} // namespace

bool HoistStepInvariants(Placement &placement, unique_ptr<LogicalOperator> &op) {
	Hoisting hoisting(placement, *op->children[1]);
	hoisting.ReplaceBelow(*op->children[1]);
	for (auto &definition : hoisting.hoisted) {
		definition->children[1] = std::move(op);
		op = std::move(definition);
	}
	op->ResolveOperatorTypes();
	return !hoisting.hoisted.empty();
}

} // namespace skein
