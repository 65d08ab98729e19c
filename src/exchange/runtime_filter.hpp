#pragma once

#include "duckdb/execution/physical_operator.hpp"

namespace skein {

//! Lets only rows pass whose keys may occur on the other side of a join that runs in another stage.
//!
//! A sink for the hashes of that side's keys (children[1]), all of which it has before the first row passes, and an
//! operator for the rows (children[0]). A row whose key does not occur passes with a probability of some percent: the
//! hashes are kept in a Bloom filter. If there are too many, or a NULL among them says so, every row passes.
class PhysicalRuntimeFilter final : public duckdb::CachingPhysicalOperator {
public:
	//! `keys` are over the columns of `rows`.
	PhysicalRuntimeFilter(duckdb::PhysicalPlan &plan, duckdb::PhysicalOperator &rows, duckdb::PhysicalOperator &hashes,
						  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys,
						  duckdb::idx_t estimated_cardinality);

	duckdb::string GetName() const override {
		return "RUNTIME_FILTER";
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
		return true;
	}

	duckdb::unique_ptr<duckdb::OperatorState> GetOperatorState(duckdb::ExecutionContext &context) const override;
	bool ParallelOperator() const override {
		return true;
	}

	duckdb::vector<duckdb::const_reference<duckdb::PhysicalOperator>> GetSources() const override {
		return children[0].get().GetSources();
	}
	void BuildPipelines(duckdb::Pipeline &current, duckdb::MetaPipeline &meta_pipeline) override;

protected:
	duckdb::OperatorResultType ExecuteInternal(duckdb::ExecutionContext &context, duckdb::DataChunk &input,
											   duckdb::DataChunk &chunk, duckdb::GlobalOperatorState &global_state,
											   duckdb::OperatorState &state) const override;

private:
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys_;
};

} // namespace skein
