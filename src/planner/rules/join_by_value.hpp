#pragma once

#include "planner/partition_dealing.hpp"
#include "planner/rules/join_sides.hpp"

#include <optional>

namespace skein {

//! How the leaves of both sides of a join are dealt so that rows with equal keys are in one task.
struct JoinByValue {
	std::shared_ptr<PartitionDealing> dealing;
	//! The conditions that compare the columns by which they are dealt, in their order.
	duckdb::vector<duckdb::idx_t> conditions;
};

//! Nothing if the conditions compare no columns by which both sides can be dealt, or if it is not worth it. Changes
//! nothing: what is found may be applied.
std::optional<JoinByValue> FindJoinByValue(const EquiKeys &keys, const Distribution &left, const Distribution &right,
										   const PlannerOptions &options);

} // namespace skein
