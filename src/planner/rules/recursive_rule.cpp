#include "planner/rules/recursion.hpp"
#include "planner/rules/rules.hpp"
#include "planner/rules/step_invariants.hpp"

#include "duckdb/planner/operator/logical_cteref.hpp"

namespace skein {

using namespace duckdb;

namespace {

bool Contains(const LogicalOperator &op, const std::function<bool(const LogicalOperator &)> &matches) {
	if (matches(op)) {
		return true;
	}
	return std::any_of(op.children.begin(), op.children.end(),
					   [&](const unique_ptr<LogicalOperator> &child) { return Contains(*child, matches); });
}

//! A recursive CTE: the rows that it starts from and the files that its step reads come from other tasks.
//!
//!     RecursiveCTE              CTE[files of the step]
//!       start            =>       NetworkCoalesce
//!       step                        files
//!         files                   RecursiveCTE
//!                                   NetworkCoalesce
//!                                     start
//!                                   step
//!                                     CTERef[files of the step]
//!
//! DuckDB runs the step once per iteration and reads all of its inputs anew each time, but a boundary can be read only
//! once: there is none in the step, which runs in one task.
class RecursiveRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_RECURSIVE_CTE;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		if (HoistStepInvariants(placement, op)) {
			return placement.Place(op, keep_order, placement.Preferred());
		}
		placement.AddReason("the step of a recursive CTE is not distributed");
		auto &start = op->children[0];
		auto result = placement.Coalesce(start, placement.Place(start, keep_order));
		result.session = true;
		result.replicable = false;
		// What the step reads of the query around it has to be in the same stage.
		result.pinned = result.pinned || Contains(*op->children[1], [](const LogicalOperator &part) {
							return part.type == LogicalOperatorType::LOGICAL_DELIM_GET;
						});
		return result;
	}
};

} // namespace

bool IsReadInRecursion(const LogicalOperator &op, idx_t cte_index) {
	return Contains(op, [&](const LogicalOperator &part) {
		return part.type == LogicalOperatorType::LOGICAL_RECURSIVE_CTE &&
			   Contains(*part.children[1], [&](const LogicalOperator &read) {
				   return read.type == LogicalOperatorType::LOGICAL_CTE_REF &&
						  read.Cast<LogicalCTERef>().cte_index == cte_index;
			   });
	});
}

unique_ptr<PlacementRule> MakeRecursiveRule() {
	return make_uniq<RecursiveRule>();
}

} // namespace skein
