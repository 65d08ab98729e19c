#pragma once

#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "exchange/exchange_source.hpp"
#include "exchange/task_channels.hpp"
#include "plan/distributed_plan.hpp"

namespace skein {

class PlanMeter;

//! What a query's distributed part is bound to when it is executed; implemented by the coordinator.
class QueryBinding {
public:
	virtual ~QueryBinding() = default;
	//! The head's input number `input` of the execution that runs in `context`; starts the execution if it is the
	//! first.
	virtual std::shared_ptr<ExchangeInput> HeadInput(duckdb::ClientContext &context, duckdb::idx_t input) = 0;
	//! Where a stage in the session puts its rows.
	virtual duckdb::shared_ptr<TaskChannels> SessionChannels(duckdb::ClientContext &context, uint32_t stage) = 0;
	//! What watches the operators of a stage in the session; nullptr if nobody wants to know.
	virtual duckdb::optional_ptr<PlanMeter> SessionMeter(duckdb::ClientContext &context, uint32_t stage) = 0;
};

//! The operator in the user's own plan that stands for everything that runs elsewhere: returns the rows of a stage.
//!
//! Children are the sinks of the stages that run in the session; they run before the first row is read.
class HeadSource final : public duckdb::LogicalExtensionOperator {
public:
	HeadSource(std::shared_ptr<QueryBinding> binding, duckdb::idx_t input, ReadOrder order,
			   duckdb::vector<duckdb::ColumnBinding> bindings, duckdb::vector<duckdb::LogicalType> column_types,
			   duckdb::vector<SortColumn> sort_columns);

	duckdb::idx_t Input() const {
		return input_;
	}
	//! Adds the root of a stage that runs in the session.
	void AddSessionStage(uint32_t stage, duckdb::unique_ptr<duckdb::LogicalOperator> sink);

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return bindings_;
	}
	duckdb::vector<duckdb::idx_t> GetTableIndex() const override;
	duckdb::string GetName() const override {
		return "DISTRIBUTED";
	}
	duckdb::InsertionOrderPreservingMap<duckdb::string> ParamsToString() const override;
	bool SupportSerialization() const override {
		return false;
	}
	duckdb::idx_t EstimateCardinality(duckdb::ClientContext &context) override {
		return estimated_cardinality;
	}

protected:
	void ResolveTypes() override {
		types = column_types_;
	}

private:
	const std::shared_ptr<QueryBinding> binding_;
	const duckdb::idx_t input_;
	const ReadOrder order_;
	const duckdb::vector<duckdb::ColumnBinding> bindings_;
	const duckdb::vector<duckdb::LogicalType> column_types_;
	const duckdb::vector<SortColumn> sort_columns_;
	std::vector<uint32_t> session_stages_;
};

} // namespace skein
