#include "engine/plan_serializer.hpp"

#include "engine/adaptive_aggregate.hpp"
#include "engine/dynamic_filters.hpp"

#include "duckdb/optimizer/join_filter_pushdown_optimizer.hpp"
#include "duckdb/optimizer/optimizer.hpp"
#include "duckdb/optimizer/topn_optimizer.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_limit.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! A limit of a plan whose value was taken out.
struct HiddenLimit {
	reference<LogicalLimit> limit;
	BoundLimitNode value;
};

//! Takes the values out of all limits, so that TopN leaves each `Limit over Order` as the planner made it.
void HideLimits(LogicalOperator &op, vector<HiddenLimit> &hidden) {
	if (op.type == LogicalOperatorType::LOGICAL_LIMIT) {
		auto &limit = op.Cast<LogicalLimit>();
		hidden.push_back({limit, std::move(limit.limit_val)});
		limit.limit_val = BoundLimitNode();
	}
	for (auto &child : op.children) {
		HideLimits(*child, hidden);
	}
}

void ShowLimits(vector<HiddenLimit> hidden) {
	for (auto &entry : hidden) {
		entry.limit.get().limit_val = std::move(entry.value);
	}
}

bool ReadsFromElsewhere(const LogicalOperator &op) {
	if (op.type == LogicalOperatorType::LOGICAL_EXTENSION_OPERATOR) {
		return true;
	}
	return std::any_of(op.children.begin(), op.children.end(), [](auto &child) { return ReadsFromElsewhere(*child); });
}

//! DuckDB makes bloom filters only of build sides that it sees a filter in. What an exchange delivers was filtered, or
//! is small enough to be sent to all.
void TakeExchangesAsFiltered(LogicalOperator &op) {
	if (op.type == LogicalOperatorType::LOGICAL_COMPARISON_JOIN) {
		auto &pushdown = op.Cast<LogicalComparisonJoin>().filter_pushdown;
		if (pushdown && !pushdown->probe_info.empty() && ReadsFromElsewhere(*op.children[1])) {
			pushdown->build_side_has_filter = true;
		}
	}
	for (auto &child : op.children) {
		TakeExchangesAsFiltered(*child);
	}
}

} // namespace

void RestoreRunTimeHelp(Binder &binder, ClientContext &context, unique_ptr<LogicalOperator> &plan, RunTimeHelp help) {
	DropDynamicFilters(*plan);
	Optimizer optimizer(binder, context);
	if (help.top_n && !optimizer.OptimizerDisabled(OptimizerType::TOP_N)) {
		vector<HiddenLimit> hidden;
		HideLimits(*plan, hidden);
		plan = TopN(context).Optimize(std::move(plan));
		ShowLimits(std::move(hidden));
		DropMistypedDynamicFilters(*plan);
	}
	if (help.join_filters && !optimizer.OptimizerDisabled(OptimizerType::JOIN_FILTER_PUSHDOWN)) {
		JoinFilterPushdownOptimizer(optimizer).VisitOperator(*plan);
		DropJoinFiltersThatMissRows(*plan);
		TakeExchangesAsFiltered(*plan);
	}
	UseAdaptiveAggregates(context, plan, help.partial_aggregates);
}

} // namespace skein
