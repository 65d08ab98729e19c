#pragma once

#include "planner/placement.hpp"

namespace skein {

//! The rules in the order in which they are asked; the table of contents of this folder.
duckdb::vector<duckdb::unique_ptr<PlacementRule>> PlacementRules();

duckdb::unique_ptr<PlacementRule> MakeScanRule();
duckdb::unique_ptr<PlacementRule> MakeConstantRule();
duckdb::unique_ptr<PlacementRule> MakeRowwiseRule();
duckdb::unique_ptr<PlacementRule> MakeGroupingSetsRule();
duckdb::unique_ptr<PlacementRule> MakeAggregateRule();
duckdb::unique_ptr<PlacementRule> MakeDistinctRule();
duckdb::unique_ptr<PlacementRule> MakeJoinRule();
duckdb::unique_ptr<PlacementRule> MakeDelimJoinRule();
duckdb::unique_ptr<PlacementRule> MakeDelimGetRule();
duckdb::unique_ptr<PlacementRule> MakePositionalJoinRule();
duckdb::unique_ptr<PlacementRule> MakeOrderRule();
duckdb::unique_ptr<PlacementRule> MakeTopNRule();
duckdb::unique_ptr<PlacementRule> MakeLimitRule();
duckdb::unique_ptr<PlacementRule> MakeWindowRule();
duckdb::unique_ptr<PlacementRule> MakeSampleRule();
duckdb::unique_ptr<PlacementRule> MakeUnionRule();
duckdb::unique_ptr<PlacementRule> MakeSetOperationRule();
duckdb::unique_ptr<PlacementRule> MakeSharedPlanRule();
duckdb::unique_ptr<PlacementRule> MakeSharedReadRule();
duckdb::unique_ptr<PlacementRule> MakeRecursiveRule();

} // namespace skein
