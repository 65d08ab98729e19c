#pragma once

#include "duckdb.hpp"
#include "duckdb/planner/logical_operator.hpp"
#include "skein/worker_resolver.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skein {

//! How many tasks a leaf wants. Its stage has as many as the leaf of it that wants most, and never more than the
//! session allows (`skein_max_tasks`).
struct TaskCount {
	size_t desired = 1;
	//! No more variants than these are ever asked for; at least 1.
	size_t maximum = 1;
};

//! What one task reads of a leaf.
struct LeafVariant {
	//! A plan that any worker can read and execute, with the column bindings and types of the leaf.
	duckdb::unique_ptr<duckdb::LogicalOperator> plan;
	//! As EXPLAIN shows it; empty: the plan's name.
	std::string text;
	//! If it is known before it is read.
	std::optional<uint64_t> rows;
	uint64_t bytes = 0;
	//! Names of what is read, if it has any: no two variants of a leaf may read the same.
	std::vector<std::string> units;
	//! Tasks with the same key prefer the same worker, whose caches are warm then. A path is a good one. Empty: none.
	std::string cache_key;
};

//! What is known of one leaf while one query is planned.
//!
//! Used by the thread that plans, and gone when the query has been planned. What it throws ends the query.
class LeafEstimate {
public:
	virtual ~LeafEstimate() = default;

	virtual TaskCount Tasks() const = 0;
	//! What all variants read together. The tasks of a UNION ALL are dealt to its children in proportion to it.
	virtual uint64_t Bytes() const = 0;
	//! Exactly `tasks` variants, which is at most Tasks().maximum: together they give each row of the leaf once, and
	//! one after the other in its order if KeepsOrder(). May be called again.
	virtual std::vector<LeafVariant> MakeVariants(size_t tasks) = 0;
	//! By variant, the address of the worker that is to read it, one of `workers`; empty where any may. An empty list
	//! leaves all to Skein: the worker with the fewest tasks, among equals the one that the cache key prefers. Only a
	//! wish when the worker is lost and the query is tried again.
	virtual std::vector<std::string> ChooseWorkers(const std::vector<LeafVariant> &variants,
												   const std::vector<WorkerInfo> &workers) {
		return {};
	}
	virtual bool KeepsOrder() const {
		return true;
	}
	//! Whether each of several tasks may read all of it, because it gives the same rows every time. Then it is, if it
	//! is small.
	virtual bool MayRepeat() const {
		return false;
	}
};

//! A leaf as a task estimator is asked about it; valid while the query is planned.
struct LeafQuestion {
	duckdb::ClientContext &context;
	//! An operator without children. Not to be changed.
	duckdb::LogicalOperator &leaf;
	//! The most tasks that a stage of this query has, and `skein_bytes_per_task`.
	size_t max_tasks;
	uint64_t bytes_per_task;
	//! What the estimators after this one say, to change a part of it; nullptr if all of them decline.
	std::function<std::unique_ptr<LeafEstimate>()> next;
};

//! Divides leaves into tasks and chooses their workers, before the built-in estimators of files are asked.
//!
//! Given to Attach(), and shared by all connections: thread-safe. Its estimates are checked; one that breaks a rule of
//! LeafVariant or LeafEstimate is a duckdb::InvalidInputException that names the estimator.
class TaskEstimator {
public:
	virtual ~TaskEstimator() = default;

	//! As messages name it.
	virtual std::string Name() const = 0;
	//! nullptr declines: the next one is asked.
	virtual std::unique_ptr<LeafEstimate> Estimate(const LeafQuestion &question) const = 0;
};

} // namespace skein
