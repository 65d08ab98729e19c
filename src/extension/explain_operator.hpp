#pragma once

#include "duckdb/planner/operator/logical_explain.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "plan/distributed_plan.hpp"

#include <memory>

namespace skein {

//! EXPLAIN of a query that Skein has looked at: its stages, or a line that says why there are none, followed by
//! DuckDB's own plan. Rows as DuckDB's EXPLAIN gives them.
class ExplainOperator final : public duckdb::LogicalExtensionOperator {
public:
	//! Takes the place of `explain`. `distributed` is nullptr if the query is not distributed, for the `reason`.
	ExplainOperator(duckdb::LogicalExplain &explain, std::shared_ptr<const DistributedPlan> distributed,
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
	const std::shared_ptr<const DistributedPlan> distributed_;
	const std::string reason_;
};

} // namespace skein
