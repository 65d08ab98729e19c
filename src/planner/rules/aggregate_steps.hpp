#pragma once

#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "engine/aggregate_parts.hpp"
#include "plan/columns.hpp"
#include "planner/placement.hpp"

#include <optional>

namespace skein {
bool HasDistinct(const duckdb::LogicalAggregate &aggregate);

//! The groups by which the reader of an aggregate prefers its rows to be partitioned, in its order, if they have values
//! enough for all tasks; else none. As Trino does, which leaves rows that are partitioned by some of the columns where
//! they are.
duckdb::vector<duckdb::idx_t> PreferredGroups(Placement &placement, const duckdb::LogicalAggregate &aggregate);

//! The parts of all aggregates of an operator, or nothing and why not. `distinct_is_local`: equal arguments of a
//! DISTINCT aggregate are in one task.
std::optional<duckdb::vector<AggregateParts>> SplitAll(duckdb::ClientContext &context,
													   const duckdb::LogicalAggregate &aggregate,
													   bool distinct_is_local, std::string &reason);

//! An aggregate over the child of `aggregate`, which is moved into it, with the same groups and grouping sets and the
//! parts in place of the aggregates, under new table indices.
duckdb::unique_ptr<duckdb::LogicalAggregate> MakePartial(Placement &placement, duckdb::LogicalAggregate &aggregate,
														 const duckdb::vector<AggregateParts> &parts);
//! The aggregates that combine the parts which `partial` returns.
duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> MakeFinals(Placement &placement,
																  const duckdb::LogicalAggregate &aggregate,
																  const duckdb::LogicalAggregate &partial,
																  const duckdb::vector<AggregateParts> &parts);
//! A column that groups in `partial`, by its place among them.
duckdb::unique_ptr<duckdb::Expression> GroupColumn(const duckdb::LogicalAggregate &partial, duckdb::idx_t group);

} // namespace skein
