#pragma once

#include "duckdb/planner/operator/logical_explain.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

//! EXPLAIN ANALYZE: runs the query, then shows its stages with what their tasks have reported, and the session's own
//! part once more as DuckDB's profiler saw it; of a query that is not distributed that part alone, and why. One row, as
//! DuckDB's EXPLAIN ANALYZE gives it.
class AnalyzeOperator final : public duckdb::LogicalExtensionOperator {
public:
	//! Takes the place of `explain`. `head` is the root of the head in what it explains; nullptr if the query is not
	//! distributed, for the `reason`.
	AnalyzeOperator(duckdb::LogicalExplain &explain, duckdb::optional_ptr<const duckdb::LogicalOperator> head,
					std::string reason);

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
	const duckdb::optional_ptr<const duckdb::LogicalOperator> head_;
	const std::string reason_;
};

} // namespace skein
