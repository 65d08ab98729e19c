#pragma once

#include "duckdb/planner/logical_operator.hpp"
#include "skein/task_estimator.hpp"

namespace skein {

//! Checks what a user's estimator makes of one leaf, as far as that can be seen. Each violation is a
//! duckdb::InvalidInputException that names the estimator and the leaf.
class VariantChecker {
public:
	VariantChecker(duckdb::ClientContext &context, std::string estimator, duckdb::LogicalOperator &leaf)
		: context_(context), estimator_(std::move(estimator)), leaf_(leaf) {
	}

	//! `wanted` variants, each with a plan that has the leaf's columns and can be sent; no two read the same.
	void CheckVariants(const std::vector<LeafVariant> &variants, size_t wanted) const;
	//! No worker for any, or one for each, of those that there are.
	void CheckWorkers(const std::vector<std::string> &chosen, size_t variants,
					  const std::vector<WorkerInfo> &workers) const;

private:
	[[noreturn]] void Refuse(const std::string &what) const;
	void CheckPlan(const LeafVariant &variant, size_t number) const;
	void CheckOverlap(const std::vector<LeafVariant> &variants) const;

	duckdb::ClientContext &context_;
	const std::string estimator_;
	duckdb::LogicalOperator &leaf_;
};

} // namespace skein
