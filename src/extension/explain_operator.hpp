#pragma once

#include "duckdb/planner/operator/logical_explain.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

//! EXPLAIN of a query that Skein has looked at: `text` for the stages, or a line that says why there are none, followed
//! by DuckDB's own plan. Rows as DuckDB's EXPLAIN gives them.
class ExplainOperator final : public duckdb::LogicalExtensionOperator {
public:
	//! Takes the place of `explain`.
	ExplainOperator(duckdb::LogicalExplain &explain, bool distributed, std::string text);

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
	const bool distributed_;
	const std::string text_;
};

} // namespace skein
