#pragma once

#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

//! A leaf together with one ready-made variant for every task of its stage, while a plan is being made.
//!
//! Never shipped: the task spawner puts variant i in its place in the plan of task i.
//! Invariants: every variant has the bindings and types of the leaf; the union of the variants' rows is the leaf's
//! rows.
class LogicalDistributedLeaf final : public duckdb::LogicalExtensionOperator {
public:
	//! What EXPLAIN says of a variant.
	struct VariantSummary {
		//! As in `READ_PARQUET files=[a.parquet row_groups=0..3]`.
		std::string text;
		//! Invalid if they are not known before they are read.
		duckdb::optional_idx rows;
		duckdb::idx_t bytes;
		//! Tasks with the same one prefer the same worker; empty: none.
		std::string cache_key;
		//! The worker that an estimator has chosen; empty: none.
		std::string worker;
	};

	//! `leaf` is the scan of all the data.
	explicit LogicalDistributedLeaf(duckdb::unique_ptr<duckdb::LogicalOperator> leaf);

	duckdb::unique_ptr<duckdb::LogicalOperator> leaf;
	//! Made by the scaling of leaves; one per task then, empty before.
	duckdb::vector<duckdb::unique_ptr<duckdb::LogicalOperator>> variants;
	duckdb::vector<VariantSummary> summaries;
	//! How many tasks it wants.
	duckdb::idx_t desired_tasks = 1;
	//! The most tasks that can have something to read.
	duckdb::idx_t max_tasks = 1;
	//! Bytes that all variants read together.
	duckdb::idx_t total_bytes = 0;
	//! Every task may read all of it: reading it twice gives the same rows.
	bool can_replicate = false;
	//! Every task does read all of it: all variants are the whole leaf.
	bool replicated = false;
	//! The columns by whose values it is dealt, so that all rows with a value are in one task; empty: by bytes alone.
	duckdb::vector<std::string> dealt_by;
	//! Makes `tasks` variants; those for which nothing is left read nothing.
	std::function<void(LogicalDistributedLeaf &, duckdb::idx_t tasks)> make_variants;

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return leaf->GetColumnBindings();
	}
	duckdb::string GetName() const override {
		return "DistributedLeaf";
	}

protected:
	void ResolveTypes() override {
		leaf->ResolveOperatorTypes();
		types = leaf->types;
	}
};

} // namespace skein
