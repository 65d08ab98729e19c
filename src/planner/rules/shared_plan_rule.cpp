#include "duckdb/planner/operator/logical_cteref.hpp"
#include "duckdb/planner/operator/logical_materialized_cte.hpp"
#include "planner/rules/recursion.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Whether a reference to the CTE below `op` has to return its rows in their order; `keep_order`: `op` has to.
bool NeedsOrder(const LogicalOperator &op, idx_t cte_index, bool keep_order) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_CTE_REF:
		return keep_order && op.Cast<LogicalCTERef>().cte_index == cte_index;
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
	case LogicalOperatorType::LOGICAL_ANY_JOIN:
	case LogicalOperatorType::LOGICAL_ORDER_BY:
	case LogicalOperatorType::LOGICAL_TOP_N:
		keep_order = false;
		break;
	case LogicalOperatorType::LOGICAL_LIMIT:
	case LogicalOperatorType::LOGICAL_WINDOW:
	case LogicalOperatorType::LOGICAL_DISTINCT:
		keep_order = true;
		break;
	default:
		break;
	}
	return std::any_of(op.children.begin(), op.children.end(), [&](const unique_ptr<LogicalOperator> &child) {
		return NeedsOrder(*child, cte_index, keep_order);
	});
}

//! A materialised CTE: its definition becomes a stage that runs once and that every reference reads.
//!
//!     CTE[c]                    ...
//!       definition       =>       NetworkShuffle[in turn] of the shared stage c
//!       ...
//!         CTERef[c]
//!
//! Where the order of rows is to be kept, where the step of a recursive CTE reads it, or where only the session can
//! compute the definition and nothing is forced, the CTE stays one operator in one task, with all its references.
class SharedPlanRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_MATERIALIZED_CTE;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &cte = op->Cast<LogicalMaterializedCTE>();
		if (placement.Options().preserve_order && NeedsOrder(*cte.children[1], cte.table_index, keep_order)) {
			return placement.PlaceInOneTask(op, keep_order, "a materialised CTE whose order counts runs in one task");
		}
		auto definition = placement.Place(cte.children[0], false);
		auto stays = definition.pinned || IsReadInRecursion(*cte.children[1], cte.table_index) ||
					 (definition.session && placement.Options().mode != Mode::FORCE);
		if (stays) {
			placement.Coalesce(cte.children[0], definition);
			auto reader = placement.Coalesce(cte.children[1], placement.Place(cte.children[1], keep_order));
			reader.session = reader.session || definition.session;
			return reader;
		}
		placement.shared[cte.table_index] = {std::move(cte.children[0]), definition, cte.ctename};
		auto reader = std::move(cte.children[1]);
		auto result = placement.Place(reader, keep_order);
		op = std::move(reader);
		return result;
	}
};

//! A reference to a shared stage: its rows are dealt to the tasks that read them, or go where the operator above wants
//! them. A reference to a CTE that stayed in one task cannot be separated from it.
class SharedReadRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_CTE_REF;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto cte_index = op->Cast<LogicalCTERef>().cte_index;
		if (placement.shared.find(cte_index) == placement.shared.end()) {
			auto result = Distribution::Single();
			result.session = true;
			result.pinned = true;
			result.in_order = true;
			return result;
		}
		auto result = placement.Deal(op);
		op->Cast<LogicalExchange>().shared_cte = cte_index;
		return result;
	}
};

} // namespace

unique_ptr<PlacementRule> MakeSharedPlanRule() {
	return make_uniq<SharedPlanRule>();
}

unique_ptr<PlacementRule> MakeSharedReadRule() {
	return make_uniq<SharedReadRule>();
}

} // namespace skein
