#pragma once

#include "duckdb/execution/physical_operator.hpp"
#include "exchange/task_channels.hpp"
#include "plan/exchange_kind.hpp"

#include <functional>

namespace skein {

//! One output of a sink: who gets which row. All expressions are over the sink's input columns.
struct SinkOutput {
	ExchangeKind kind = ExchangeKind::COALESCE;
	//! Hashed by DuckDB's own hash. Only for SHUFFLE and KEY_HASHES.
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys;
	//! Only rows for which all of these are true are given out.
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> filters;
	//! What is given out of each row; empty: the input columns.
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> columns;

	//! Whether every row is given out as it comes.
	bool TakesAll() const {
		return filters.empty() && columns.empty();
	}
};

//! The top of a task's plan: distributes the rows it gets over the partitions of the task's outputs.
//!
//! A sink that returns BLOCKED while one of its outputs is full and is woken by the output; then a source of one row,
//! the number of rows it has taken, which ends the task. It stops early once nobody reads any of its outputs.
//! `in_order`: one thread feeds it, so that rows keep the order of the plan below.
class PhysicalExchangeSink final : public duckdb::PhysicalOperator {
public:
	using GetChannels = std::function<duckdb::shared_ptr<TaskChannels>(duckdb::ClientContext &)>;

	PhysicalExchangeSink(duckdb::PhysicalPlan &plan, duckdb::vector<SinkOutput> outputs, bool in_order,
						 GetChannels get_channels, duckdb::idx_t estimated_cardinality);

	duckdb::string GetName() const override {
		return "EXCHANGE_SINK";
	}

	duckdb::unique_ptr<duckdb::GlobalSinkState> GetGlobalSinkState(duckdb::ClientContext &context) const override;
	duckdb::unique_ptr<duckdb::LocalSinkState> GetLocalSinkState(duckdb::ExecutionContext &context) const override;
	duckdb::SinkResultType Sink(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
								duckdb::OperatorSinkInput &input) const override;
	duckdb::SinkCombineResultType Combine(duckdb::ExecutionContext &context,
										  duckdb::OperatorSinkCombineInput &input) const override;
	duckdb::SinkFinalizeType Finalize(duckdb::Pipeline &pipeline, duckdb::Event &event, duckdb::ClientContext &context,
									  duckdb::OperatorSinkFinalizeInput &input) const override;
	bool IsSink() const override {
		return true;
	}
	bool ParallelSink() const override {
		return !in_order_;
	}
	bool SinkOrderDependent() const override {
		return in_order_;
	}

	duckdb::unique_ptr<duckdb::GlobalSourceState> GetGlobalSourceState(duckdb::ClientContext &context) const override;
	duckdb::SourceResultType GetDataInternal(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
											 duckdb::OperatorSourceInput &input) const override;
	bool IsSource() const override {
		return true;
	}

private:
	duckdb::vector<SinkOutput> outputs_;
	const bool in_order_;
	const GetChannels get_channels_;
};

} // namespace skein
