#pragma once

#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

//! One child's part in one task: piece `share` of the `shares` into which the child's leaf is divided.
struct UnionPart {
	duckdb::idx_t child;
	duckdb::idx_t share;
	duckdb::idx_t shares;
};

//! What is known of a child when tasks are dealt to the children of a union.
struct UnionChild {
	//! Bytes that it reads.
	duckdb::idx_t weight;
	//! The most pieces that can have something to read.
	duckdb::idx_t max_shares;
};

//! Deals `tasks` tasks to the children of a union: in proportion to their weights, by largest remainder, at least one
//! each; with fewer tasks than children each child goes whole to one task, the heaviest first to the lightest task
//! (Graham's LPT rule, 1969). Returns the parts of every task, in the order of the children; a task may have none if
//! there is too little to share.
duckdb::vector<duckdb::vector<UnionPart>> DealUnionTasks(const duckdb::vector<UnionChild> &children,
														 duckdb::idx_t tasks);

//! A UNION ALL whose children are spread over the tasks of a stage, while a plan is being made: every task runs only
//! its own part of it.
//!
//! Never shipped: the task spawner puts the union of task i's parts in its place. Children that read other stages are
//! not isolated: each task runs them over what it gets of these stages. Invariant: over all tasks, every piece of every
//! isolated child occurs exactly once.
class LogicalChildrenIsolatorUnion final : public duckdb::LogicalExtensionOperator {
public:
	LogicalChildrenIsolatorUnion(duckdb::idx_t table_index,
								 duckdb::vector<duckdb::unique_ptr<duckdb::LogicalOperator>> children);

	const duckdb::idx_t table_index;
	//! The children that are isolated, by number; the others run in every task.
	duckdb::vector<duckdb::idx_t> isolated;
	//! By task; made when the number of tasks is known.
	duckdb::vector<duckdb::vector<UnionPart>> parts;

	//! The children that task `task` runs, with their parts; a child that is not isolated is piece 0 of 1.
	duckdb::vector<UnionPart> PartsOf(duckdb::idx_t task) const;
	//! As EXPLAIN shows it: `t0:[c0(0/2)] t1:[c0(1/2)] t2:[c1]`.
	duckdb::string Describe() const;
	//! A plain operator with this one's columns over the rows of `inputs`, which it takes.
	duckdb::unique_ptr<duckdb::LogicalOperator>
	MakePlain(duckdb::vector<duckdb::unique_ptr<duckdb::LogicalOperator>> inputs) const;

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return GenerateColumnBindings(table_index, children[0]->GetColumnBindings().size());
	}
	duckdb::vector<duckdb::idx_t> GetTableIndex() const override {
		return {table_index};
	}
	duckdb::string GetName() const override {
		return "DistributedUnion";
	}

protected:
	void ResolveTypes() override {
		types = children[0]->types;
	}
};

} // namespace skein
