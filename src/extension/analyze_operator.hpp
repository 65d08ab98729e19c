#pragma once

#include "duckdb/planner/operator/logical_explain.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "plan/distributed_plan.hpp"

#include <memory>

namespace skein {

//! EXPLAIN ANALYZE of a distributed query: runs it, then shows its stages with what their tasks have reported, and the
//! head as DuckDB's profiler saw it. One row, as DuckDB's EXPLAIN ANALYZE gives it.
class AnalyzeOperator final : public duckdb::LogicalExtensionOperator {
public:
	//! Takes the place of `explain`.
	AnalyzeOperator(duckdb::LogicalExplain &explain, std::shared_ptr<const DistributedPlan> plan);

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return {duckdb::ColumnBinding(0, 0), duckdb::ColumnBinding(0, 1)};
	}
	bool SupportSerialization() const override {
		return false;
	}

protected:
	void ResolveTypes() override {
		types = {duckdb::LogicalType::VARCHAR, duckdb::LogicalType::VARCHAR};
	}

private:
	const duckdb::ExplainFormat format_;
	const std::shared_ptr<const DistributedPlan> plan_;
};

} // namespace skein
