#pragma once

#include "duckdb/execution/operator/scan/physical_table_scan.hpp"
#include "engine/task_units.hpp"

namespace duckdb {
class PhysicalPlanGenerator;
} // namespace duckdb

namespace skein {

class PlanMeter;

//! A scan of a slice whose units other tasks may take and which takes units of other tasks: reads one slice after the
//! other, its own first, until nobody has units that nobody has begun.
//!
//! Returns BLOCKED while it waits for units. Batch indices of a later slice are above those of all earlier ones.
class PhysicalSharedScan final : public duckdb::PhysicalOperator {
public:
	//! `scan` is of the same plan, and gives its bind data away.
	PhysicalSharedScan(duckdb::PhysicalPlan &plan, duckdb::PhysicalTableScan &scan, std::shared_ptr<LeafUnits> units);
	~PhysicalSharedScan() override;

	//! As DuckDB planned it.
	const duckdb::PhysicalTableScan &Scan() const {
		return scan_;
	}
	const std::shared_ptr<LeafUnits> &Units() const {
		return units_;
	}

	std::string GetName() const override {
		return scan_.GetName();
	}
	duckdb::OrderPreservationType SourceOrder() const override {
		return scan_.SourceOrder();
	}
	duckdb::unique_ptr<duckdb::GlobalSourceState> GetGlobalSourceState(duckdb::ClientContext &context) const override;
	duckdb::unique_ptr<duckdb::LocalSourceState> GetLocalSourceState(duckdb::ExecutionContext &context,
																	 duckdb::GlobalSourceState &state) const override;
	duckdb::SourceResultType GetDataInternal(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
											 duckdb::OperatorSourceInput &input) const override;
	duckdb::OperatorPartitionData GetPartitionData(duckdb::ExecutionContext &context, duckdb::DataChunk &chunk,
												   duckdb::GlobalSourceState &global, duckdb::LocalSourceState &local,
												   const duckdb::OperatorPartitionInfo &partition_info) const override;
	duckdb::ProgressData GetProgress(duckdb::ClientContext &context, duckdb::GlobalSourceState &state) const override;
	bool IsSource() const override {
		return true;
	}
	bool ParallelSource() const override {
		return scan_.ParallelSource();
	}
	bool SupportsPartitioning(const duckdb::OperatorPartitionInfo &partition_info) const override {
		return scan_.SupportsPartitioning(partition_info);
	}

private:
	class GlobalState;
	class LocalState;

	const duckdb::PhysicalTableScan &scan_;
	//! Of the task's own slice.
	const duckdb::unique_ptr<duckdb::FunctionData> bind_data_;
	const std::shared_ptr<LeafUnits> units_;
};

//! Puts shared scans in the places of the scans under `op` whose leaves may share their units; returns what stands in
//! the place of `op`. `meter` takes them for what they replace.
duckdb::PhysicalOperator &ShareScans(duckdb::PhysicalPlanGenerator &planner, duckdb::PhysicalOperator &op,
									 TaskUnits &units, duckdb::optional_ptr<PlanMeter> meter);

} // namespace skein
