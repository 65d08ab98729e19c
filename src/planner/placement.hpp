#pragma once

#include "duckdb/optimizer/optimizer_extension.hpp"
#include "plan/nodes/exchange.hpp"
#include "planner/distribution.hpp"
#include "planner/leaf_estimates.hpp"
#include "planner/planner_options.hpp"

#include <map>
#include <string>

namespace skein {

class Placement;

//! Whether `op` is a leaf that task estimators are asked about: a scan, or an operator of another extension.
bool IsSourceLeaf(const duckdb::LogicalOperator &op);

//! Says where one kind of operator runs: places its children, puts boundaries between it and them where the rows have
//! to move, and says where its own rows are then.
//!
//! Stateless. A rule may replace `op`; the new operator has the same output columns under the same bindings.
class PlacementRule {
public:
	virtual ~PlacementRule() = default;
	virtual bool Matches(const duckdb::LogicalOperator &op) const = 0;
	//! `keep_order`: whoever reads `op` returns rows in the order in which they come.
	virtual Distribution Place(Placement &placement, duckdb::unique_ptr<duckdb::LogicalOperator> &op,
							   bool keep_order) const = 0;
};

//! The first pass of planning: walks a plan bottom-up and inserts the boundaries between stages.
//!
//! Every operator has a place: one that no rule knows runs in one task, over rows that are brought there.
//! Invariant: with all boundaries taken out, the plan is one that DuckDB runs alone with the same rows.
//! Used by one thread during the planning of one query.
class Placement {
public:
	//! `statement`: the operator that reads what is placed, or is placed itself.
	Placement(duckdb::OptimizerExtensionInput &input, const PlannerOptions &options,
			  duckdb::unique_ptr<duckdb::LogicalOperator> &statement);

	const PlannerOptions &Options() const {
		return options_;
	}
	duckdb::ClientContext &Context() {
		return context_;
	}
	//! A table index that the plan does not use yet.
	duckdb::idx_t NewTableIndex();

	//! `preferred`: columns of `op` by which its reader is going to bring rows together, unless they are partitioned by
	//! some of these already; in the order in which it would hash them.
	Distribution Place(duckdb::unique_ptr<duckdb::LogicalOperator> &op, bool keep_order,
					   duckdb::vector<duckdb::ColumnBinding> preferred = {});
	//! Of the operator whose placing is under way, the columns by which its reader prefers it to be partitioned.
	const duckdb::vector<duckdb::ColumnBinding> &Preferred() const {
		return under_way_.back().preferred;
	}
	//! Places the children of `op` and brings each into one task; `op` then runs there.
	Distribution PlaceInOneTask(duckdb::unique_ptr<duckdb::LogicalOperator> &op, bool keep_order,
								const std::string &reason);

	//! Brings the children of `op`, which are where `places` says, into one task; `op` then runs there.
	Distribution BringTogether(duckdb::LogicalOperator &op, const duckdb::vector<Distribution> &places);

	//! Puts a boundary above `op` so that all its rows are in one task.
	Distribution Coalesce(duckdb::unique_ptr<duckdb::LogicalOperator> &op, const Distribution &distribution);
	//! ... in one task, merged by the order in which each task of `op` delivers.
	Distribution CoalesceSorted(duckdb::unique_ptr<duckdb::LogicalOperator> &op,
								const duckdb::vector<duckdb::BoundOrderByNode> &orders);
	//! ... in the task that the hash of the keys chooses. Keys are expressions over the columns of `op`.
	Distribution Shuffle(duckdb::unique_ptr<duckdb::LogicalOperator> &op,
						 duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys);
	//! ... chunk by chunk in any task.
	Distribution Deal(duckdb::unique_ptr<duckdb::LogicalOperator> &op);
	//! ... in every task. Small leaves and constants are put into every task instead.
	Distribution Broadcast(duckdb::unique_ptr<duckdb::LogicalOperator> &op, const Distribution &distribution);

	//! Whether a broadcast of `op` costs no exchange: every task may as well read its small leaves for itself.
	bool IsReadByEveryTask(duckdb::LogicalOperator &op) const;

	//! Puts a projection above `op` that returns these of its columns. Whatever is above and called them `names` before
	//! calls them by their new names from now on. Returns `distribution` in the new names.
	Distribution Project(duckdb::unique_ptr<duckdb::LogicalOperator> &op,
						 const duckdb::vector<duckdb::ColumnBinding> &columns,
						 const duckdb::vector<duckdb::ColumnBinding> &names, Distribution distribution);
	//! Makes `op`, as placed, a shared subplan that is computed once; it is gone then. Returns its index.
	duckdb::idx_t Share(duckdb::unique_ptr<duckdb::LogicalOperator> &op, Distribution distribution,
						const duckdb::string &name);
	//! A read of a shared subplan, to be placed like any other operator.
	duckdb::unique_ptr<duckdb::LogicalOperator> ReadShared(duckdb::idx_t index);

	//! Whether an operator above the one whose placing is under way refers to this column.
	bool IsReadAbove(const duckdb::ColumnBinding &column) const;
	//! Whether every expression of `op` gives the same value on any worker; if not, why.
	bool CanTravel(duckdb::LogicalOperator &op, std::string &reason);
	//! What the task estimators say of a leaf, which IsSourceLeaf(). They are asked once per leaf.
	const EstimatedLeaf &Estimate(duckdb::LogicalOperator &leaf);
	//! Rough bytes of an operator's output.
	double EstimateBytes(duckdb::LogicalOperator &op);

	//! Remembers why a part of the plan stays in one task.
	void AddReason(const std::string &reason);
	//! Each once, the first first.
	const std::vector<std::string> &Reasons() const {
		return reasons_;
	}
	bool HasExchange() const {
		return has_exchange_;
	}

	//! The definitions of shared subplans, by the index of their materialised CTE, as placed.
	struct SharedPlan {
		duckdb::unique_ptr<duckdb::LogicalOperator> plan;
		Distribution distribution;
		duckdb::string name;
	};
	std::map<duckdb::idx_t, SharedPlan> shared;
	//! Distributions of the duplicate-eliminated reads, while the right side of their delim join is being placed.
	duckdb::vector<Distribution> delim_gets;

private:
	duckdb::unique_ptr<LogicalExchange> MakeExchange(ExchangeKind kind,
													 duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys,
													 duckdb::unique_ptr<duckdb::LogicalOperator> child);
	//! Whether the workers can call this function, or know this type; if not, why.
	bool HaveFunction(duckdb::CatalogType type, const std::string &name, std::string &reason);
	bool ExpressionTravels(duckdb::Expression &expression, std::string &reason);
	//! The same for a filter that a scan applies.
	bool FilterTravels(duckdb::TableFilter &filter, std::string &reason);
	Distribution PlaceByRule(duckdb::unique_ptr<duckdb::LogicalOperator> &op, bool keep_order);

	std::map<duckdb::LogicalOperator *, EstimatedLeaf> estimates_;
	//! Null until the first function is met.
	std::shared_ptr<const WorkerFunctions> worker_functions_;
	duckdb::ClientContext &context_;
	duckdb::Optimizer &optimizer_;
	const PlannerOptions options_;
	duckdb::vector<duckdb::unique_ptr<PlacementRule>> rules_;
	//! An operator whose placing is under way.
	struct UnderWay {
		duckdb::reference<duckdb::unique_ptr<duckdb::LogicalOperator>> place;
		duckdb::vector<duckdb::ColumnBinding> preferred;
	};
	//! The root first.
	duckdb::vector<UnderWay> under_way_;
	std::vector<std::string> reasons_;
	bool has_exchange_ = false;
};

} // namespace skein
