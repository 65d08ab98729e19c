#include "engine/plan_serializer.hpp"

#include "engine/dynamic_filters.hpp"

#include "duckdb/optimizer/join_filter_pushdown_optimizer.hpp"
#include "duckdb/optimizer/optimizer.hpp"
#include "duckdb/optimizer/topn_optimizer.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/operator/logical_limit.hpp"

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

} // namespace

void RestoreRunTimeHelp(Binder &binder, ClientContext &context, unique_ptr<LogicalOperator> &plan) {
	DropDynamicFilters(*plan);
	Optimizer optimizer(binder, context);
	if (!optimizer.OptimizerDisabled(OptimizerType::TOP_N)) {
		vector<HiddenLimit> hidden;
		HideLimits(*plan, hidden);
		plan = TopN(context).Optimize(std::move(plan));
		ShowLimits(std::move(hidden));
	}
	if (!optimizer.OptimizerDisabled(OptimizerType::JOIN_FILTER_PUSHDOWN)) {
		JoinFilterPushdownOptimizer(optimizer).VisitOperator(*plan);
	}
}

} // namespace skein
