#pragma once

#include "duckdb/optimizer/optimizer_extension.hpp"
#include "plan/distributed_plan.hpp"
#include "planner/planner_options.hpp"

#include <functional>
#include <memory>

namespace skein {

class QueryBinding;
struct QueryDraft;

//! What became of a query's plan.
struct PlanResult {
	//! Set if the query is distributed.
	std::shared_ptr<const DistributedPlan> plan;
	//! One line; why the query is not distributed, or why a part of it stays in one task.
	std::string reason;
};

//! What PlanQuery() needs from those who use it.
struct PlannerCallbacks {
	//! Makes the link of the head's operators to the execution, once the distributed plan is known.
	std::function<std::shared_ptr<QueryBinding>(std::shared_ptr<const DistributedPlan>)> bind;
	//! Sets the plan's outline and text, from which EXPLAIN is made.
	std::function<void(const QueryDraft &, const duckdb::LogicalOperator &head, DistributedPlan &)> describe;
	//! The session's settings that the tasks need, by name.
	std::vector<std::pair<std::string, std::string>> settings;
};

//! Distributes an optimized plan: replaces what can run on workers by operators that fetch the rows, and leaves the
//! rest, the head, in `plan`. If nothing can, `plan` stays as it is. `statement` is what reads the plan's rows, such as
//! an UPDATE, or `plan` itself.
PlanResult PlanQuery(duckdb::OptimizerExtensionInput &input, duckdb::unique_ptr<duckdb::LogicalOperator> &statement,
					 duckdb::unique_ptr<duckdb::LogicalOperator> &plan, const PlannerOptions &options,
					 const PlannerCallbacks &callbacks);

} // namespace skein
