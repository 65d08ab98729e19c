#pragma once

#include "duckdb/execution/physical_operator.hpp"
#include "exchange/exchange_input.hpp"
#include "exchange/sorted_merge.hpp"
#include "plan/exchange_kind.hpp"

#include <functional>

namespace skein {

//! A leaf of a task's plan, or of the head: the rows of another stage that are meant for this task.
//!
//! Returns BLOCKED while nothing has arrived and is woken by the input. Any number of threads takes pages when the
//! order does not matter; one thread reads BY_TASK and MERGE. When its state dies the input is closed, which stops
//! producers. Children, if any, are sinks for rows that the head's session feeds to the stages; all run before the
//! first read.
class PhysicalExchangeSource : public duckdb::PhysicalOperator {
public:
	using GetInput = std::function<std::shared_ptr<ExchangeInput>(duckdb::ClientContext &)>;

	//! `sort_columns` only for ReadOrder::MERGE.
	PhysicalExchangeSource(duckdb::PhysicalPlan &plan, duckdb::vector<duckdb::LogicalType> types, ReadOrder order,
						   duckdb::vector<SortColumn> sort_columns, GetInput get_input,
						   duckdb::idx_t estimated_cardinality);

	duckdb::string GetName() const override {
		return "EXCHANGE_SOURCE";
	}

	duckdb::unique_ptr<duckdb::GlobalSourceState> GetGlobalSourceState(duckdb::ClientContext &context) const override;
	duckdb::unique_ptr<duckdb::LocalSourceState> GetLocalSourceState(duckdb::ExecutionContext &context,
																	 duckdb::GlobalSourceState &state) const override;
	duckdb::SourceResultType GetDataInternal(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
											 duckdb::OperatorSourceInput &input) const override;
	bool IsSource() const override {
		return true;
	}
	bool ParallelSource() const override {
		return order_ == ReadOrder::ANY;
	}
	duckdb::OrderPreservationType SourceOrder() const override {
		switch (order_) {
		case ReadOrder::MERGE:
			return duckdb::OrderPreservationType::FIXED_ORDER;
		case ReadOrder::BY_TASK:
			return duckdb::OrderPreservationType::INSERTION_ORDER;
		default:
			return duckdb::OrderPreservationType::NO_ORDER;
		}
	}
	//! In the head: how far the tasks are on which it waits.
	duckdb::ProgressData GetProgress(duckdb::ClientContext &context, duckdb::GlobalSourceState &state) const override;
	//! Itself: its children end in sinks of their own.
	duckdb::vector<duckdb::const_reference<PhysicalOperator>> GetSources() const override {
		return {*this};
	}
	void BuildPipelines(duckdb::Pipeline &current, duckdb::MetaPipeline &meta_pipeline) override;

private:
	duckdb::SourceResultType Read(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
								  duckdb::OperatorSourceInput &input) const;

	const ReadOrder order_;
	const duckdb::vector<SortColumn> sort_columns_;
	const GetInput get_input_;
};

} // namespace skein
