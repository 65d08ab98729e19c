#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "plan/columns.hpp"
#include "planner/rules/row_functions.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Filters, projections, UNNEST and the like look at one row at a time: they run where their input is. What they read
//! of a shared subplan, they read there.
//!
//!     Filter                                     NetworkShuffle[in turn] of the shared stage c
//!       NetworkShuffle[in turn] of       =>        Filter
//!       the shared stage c                           CTERef[c]
class RowwiseRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		switch (op.type) {
		case LogicalOperatorType::LOGICAL_FILTER:
		case LogicalOperatorType::LOGICAL_PROJECTION:
		case LogicalOperatorType::LOGICAL_UNNEST:
		case LogicalOperatorType::LOGICAL_PIVOT:
			return true;
		default:
			return IsCalledPerRow(op);
		}
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		vector<ColumnBinding> from, to;
		PassedColumns(*op, from, to);
		auto result = placement.Place(op->children[0], keep_order, Renamed(placement.Preferred(), to, from));
		if (GoesBelow(*op)) {
			auto exchange = std::move(op->children[0]);
			op->children[0] = std::move(exchange->children[0]);
			if (op->has_estimated_cardinality) {
				exchange->SetEstimatedCardinality(op->estimated_cardinality);
			}
			exchange->children[0] = std::move(op);
			op = std::move(exchange);
			op->ResolveOperatorTypes();
			return result;
		}
		// Under the names that they have by now.
		PassedColumns(*op, from, to);
		return Rename(std::move(result), from, to);
	}

private:
	//! How the columns that `op` passes on as they are are called below and above it.
	static void PassedColumns(LogicalOperator &op, vector<ColumnBinding> &from, vector<ColumnBinding> &to) {
		if (op.type != LogicalOperatorType::LOGICAL_PROJECTION) {
			from = to = op.children[0]->GetColumnBindings();
			return;
		}
		from.clear();
		to.clear();
		PassesColumns(op, to, from);
	}

	//! Whether `op` filters or projects what it reads of a shared subplan: the tasks that compute the subplan do that
	//! then, and send what is left where it is wanted.
	static bool GoesBelow(LogicalOperator &op) {
		if (op.type != LogicalOperatorType::LOGICAL_FILTER && op.type != LogicalOperatorType::LOGICAL_PROJECTION) {
			return false;
		}
		auto exchange = LogicalExchange::From(*op.children[0]);
		return exchange && exchange->shared_cte && exchange->kind == ExchangeKind::SHUFFLE &&
			   exchange->expressions.empty();
	}
};

} // namespace

bool IsCalledPerRow(const LogicalOperator &op) {
	if (op.type != LogicalOperatorType::LOGICAL_GET || op.children.size() != 1) {
		return false;
	}
	auto &get = op.Cast<LogicalGet>();
	// Together with columns of the row, it is called for each alone, and its rows are counted anew.
	auto counts_all_rows = get.ordinality_idx.IsValid() && get.projected_input.empty();
	return get.function.in_out_function && !get.function.in_out_function_final && !counts_all_rows;
}

unique_ptr<PlacementRule> MakeRowwiseRule() {
	return make_uniq<RowwiseRule>();
}

} // namespace skein
