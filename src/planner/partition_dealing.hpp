#pragma once

#include "plan/nodes/distributed_leaf.hpp"
#include "planner/distribution.hpp"
#include "planner/leaf/partitioned_estimate.hpp"
#include "planner/leaf_estimates.hpp"

namespace skein {

//! A leaf that can be dealt by value, in the plan. Lives as long as the plan is being made.
struct PartitionedLeaf {
	LogicalDistributedLeaf &node;
	const EstimatedLeaf estimated;
	const PartitionedEstimate &estimate;
};

//! Says which task reads each value of some columns, for leaves of one stage that are dealt alike.
//!
//! The values are dealt by weight, the heaviest first, each to the task that has least. Deterministic.
class PartitionDealing : public std::enable_shared_from_this<PartitionDealing> {
public:
	//! A leaf, and which of its partition columns are the keys, in their order.
	struct Member {
		std::shared_ptr<PartitionedLeaf> leaf;
		duckdb::vector<size_t> columns;
	};

	explicit PartitionDealing(std::vector<Member> members);

	//! Whether it is worth it: there are as many values as there will be tasks, as far as is known, and none of these
	//! has more than 1.25 times its fair share.
	bool IsEven(const PlannerOptions &options) const;
	std::map<PartitionValue, size_t> TaskOfValue(size_t tasks) const;
	//! Lets the leaves be dealt like this. `options` and `context` live as long as the plan is being made.
	void Apply(duckdb::ClientContext &context, const PlannerOptions &options);
	const std::vector<Member> &Members() const {
		return members_;
	}

private:
	const std::vector<Member> members_;
	std::map<PartitionValue, duckdb::idx_t> weights_;
};

//! What a leaf offers that has just been put into the plan; nothing if it cannot be dealt by value.
PartitionOffer OfferOf(LogicalDistributedLeaf &node, const EstimatedLeaf &estimated);

//! The leaves below rows of this distribution, to be dealt by its keys, or offered columns, at these positions; none if
//! they cannot be.
std::vector<PartitionDealing::Member> MembersOf(const Distribution &distribution,
												const duckdb::vector<size_t> &positions);

//! Accepts what `distribution` offers, if it is worth it: it is BY_VALUE then, by all columns that it offers.
bool KeepTogether(duckdb::ClientContext &context, const PlannerOptions &options, Distribution &distribution);

} // namespace skein
