#pragma once

#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"

namespace skein {

//! A grouped aggregate whose results another aggregate combines: a group may come any number of times. DuckDB takes it
//! for any other aggregate; SerializePlan() notes that it is one.
class LogicalPartialAggregate final : public duckdb::LogicalAggregate {
public:
	using duckdb::LogicalAggregate::LogicalAggregate;
};

//! Computes grouped aggregates while rows stream by, as long as that leaves fewer rows.
//!
//! Each thread has a hash table of its own, which begins small. When it has grown to FIRST_CHECK groups, and each time
//! it has doubled since, the thread looks at how many of the last rows were new groups. If nearly all were, it returns
//! the groups and from then on each row as a group of its own, without a table, until an estimate of the distinct
//! groups says that they come again. The table is emptied, too, when it has MAX_GROUPS.
//!
//! After "Partial Partial Aggregates" (Larson 1997, MSR-TR-97-06) and what Trino and Velox do.
//! Input: the group columns, then the inputs of the aggregates in their order.
class PhysicalAdaptiveAggregate final : public duckdb::PhysicalOperator {
public:
	static constexpr duckdb::idx_t FIRST_CHECK = duckdb::idx_t(1) << 16;
	static constexpr duckdb::idx_t MAX_GROUPS = duckdb::idx_t(1) << 20;

	PhysicalAdaptiveAggregate(duckdb::PhysicalPlan &plan, duckdb::vector<duckdb::LogicalType> types,
							  duckdb::vector<duckdb::LogicalType> input_types, duckdb::idx_t groups,
							  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> aggregates,
							  duckdb::idx_t estimated_cardinality);

	duckdb::string GetName() const override {
		return "ADAPTIVE_AGGREGATE";
	}
	duckdb::unique_ptr<duckdb::OperatorState> GetOperatorState(duckdb::ExecutionContext &context) const override;
	duckdb::OperatorResultType Execute(duckdb::ExecutionContext &context, duckdb::DataChunk &input,
									   duckdb::DataChunk &chunk, duckdb::GlobalOperatorState &global_state,
									   duckdb::OperatorState &state) const override;
	duckdb::OperatorFinalizeResultType FinalExecute(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
													duckdb::GlobalOperatorState &global_state,
													duckdb::OperatorState &state) const override;
	bool RequiresFinalExecute() const override {
		return true;
	}
	bool ParallelOperator() const override {
		return true;
	}
	duckdb::OrderPreservationType OperatorOrder() const override {
		return duckdb::OrderPreservationType::NO_ORDER;
	}

private:
	const duckdb::vector<duckdb::LogicalType> input_types_;
	const duckdb::idx_t groups_;
	const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> aggregates_;
};

//! Lets PhysicalAdaptiveAggregate compute those of `partials`, which are in `plan`, that it can and that DuckDB does
//! not compute better: without a hash table, or with so many threads that groups have to be merged before they travel.
//! Types must have been resolved.
void UseAdaptiveAggregates(duckdb::ClientContext &context, duckdb::unique_ptr<duckdb::LogicalOperator> &plan,
						   const duckdb::vector<const duckdb::LogicalOperator *> &partials);

} // namespace skein
