#pragma once

#include "duckdb/planner/operator/logical_explain.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

//! EXPLAIN ANALYZE of a distributed query: runs it, then shows its stages with what their tasks have reported, and the
//! session's own part once more as DuckDB's profiler saw it. One row, as DuckDB's EXPLAIN ANALYZE gives it.
class AnalyzeOperator final : public duckdb::LogicalExtensionOperator {
public:
	//! Takes the place of `explain`. `head` is the root of the head in what it explains.
	AnalyzeOperator(duckdb::LogicalExplain &explain, const duckdb::LogicalOperator &head);

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
	const duckdb::LogicalOperator &head_;
};

} // namespace skein
