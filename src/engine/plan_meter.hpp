#pragma once

#include "duckdb.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "engine/operator_metrics.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace duckdb {
class QueryProfiler;
class ThreadContext;
} // namespace duckdb

namespace skein {

class LeafUnits;

//! Says what each operator of a logical plan has done: knows the physical operators that DuckDB made of it, and reads
//! their numbers from DuckDB's profiler.
//!
//!     Projection              Tap 0
//!       Filter        =>        Projection
//!         Get                     Tap 1
//!                                   Filter
//!                                     ...
//!
//! A tap becomes nothing but what its operator becomes, and notes it. Without a meter nothing of this exists.
//! Lives as long as the plan that it watches. Watch() to Complete() are called by the thread that plans.
class PlanMeter final : public duckdb::ClientContextState {
public:
	static constexpr const char *KEY = "skein_plan_meter";

	//! Switches the profiler of a connection on, for the numbers that are wanted alone, and attaches a meter to it.
	static duckdb::shared_ptr<PlanMeter> Install(duckdb::ClientContext &context);
	//! The meter of a connection; nullptr if it has none.
	static duckdb::shared_ptr<PlanMeter> Find(duckdb::ClientContext &context);

	//! A number for an operator that is no watched one; numbers are given in the order of calls.
	size_t Reserve();
	//! Puts a tap over `op` and everything below it, numbered in pre-order. Below an operator for which `is_leaf`
	//! returns true nothing is watched. Column bindings must have been resolved.
	void Watch(duckdb::unique_ptr<duckdb::LogicalOperator> &op,
			   const std::function<bool(const duckdb::LogicalOperator &)> &is_leaf = nullptr);
	//! `op` is what operator `number` became.
	void Note(size_t number, const duckdb::PhysicalOperator &op);
	//! `by` stands in the place of `op` now.
	void Replace(const duckdb::PhysicalOperator &op, const duckdb::PhysicalOperator &by);
	//! `sink` is operator 0 and takes the rows that operator 1 returns.
	void NoteSink(const duckdb::PhysicalOperator &sink);
	//! The physical plan from operator 0 down is complete: every physical operator gets to know whose it is.
	void Complete();

	//! What a thread has done in an operator, beside what the profiler counts: rows_read, row_groups_read,
	//! row_groups_skipped (DuckDB's profiler estimates the rows of a thread that found nothing left to read),
	//! blocked_micros. Thread-safe.
	void Add(const duckdb::PhysicalOperator &op, const OperatorMetrics &metrics);

	//! By number, what the operators did up to now; empty before Complete(). The physical plan may be gone.
	std::vector<OperatorMetrics> Collect(duckdb::ClientContext &context) const;

private:
	class Tap;

	//! Only the addresses of physical operators: what they point to may be gone.
	struct Watched {
		duckdb::optional_ptr<const duckdb::PhysicalOperator> root;
		//! What is below it is not its own.
		bool is_leaf = false;
		//! Those whose rows are the rows of the operator.
		std::vector<const duckdb::PhysicalOperator *> returning;
		//! Those that DuckDB made for the operator.
		std::vector<const duckdb::PhysicalOperator *> own;
		//! The profiler knows the rows that it read.
		bool counts_rows_read = false;
		//! Add() is told of them.
		bool is_slice = false;
		//! Of a leaf whose units tasks share.
		std::shared_ptr<LeafUnits> units;
	};

	//! Under the profiler's lock and mutex_.
	OperatorMetrics MetricsOf(const Watched &entry, const duckdb::QueryProfiler &profiler) const;
	void FindOwners(const duckdb::PhysicalOperator &op, size_t owner);

	std::vector<Watched> watched_;
	bool complete_ = false;
	bool has_sink_ = false;

	mutable std::mutex mutex_;
	//! What Add() was told, by operator.
	std::map<const duckdb::PhysicalOperator *, OperatorMetrics> told_;
};

//! How long a thread could not go on in an operator; told to the meter at its end. Without a meter it does nothing.
//!
//! Belongs to a local state of the operator, which is used by one thread at a time.
class BlockedTime {
public:
	BlockedTime(duckdb::ClientContext &context, const duckdb::PhysicalOperator &op);
	~BlockedTime();

	BlockedTime(const BlockedTime &) = delete;
	BlockedTime &operator=(const BlockedTime &) = delete;

	//! It cannot go on.
	void Begin();
	//! It goes on, or tries to.
	void End();

private:
	const duckdb::shared_ptr<PlanMeter> meter_;
	const duckdb::PhysicalOperator &op_;
	std::optional<std::chrono::steady_clock::time_point> since_;
	std::chrono::steady_clock::duration total_{0};
};

//! Adds what a thread has counted for a pipeline to the profiler when the pipeline ends without its end: by an error or
//! a cancellation. DuckDB only does so when it has run to its end.
//!
//! Belongs to a local state of one of the pipeline's operators, which goes before the thread's context does.
class UnfinishedProfile {
public:
	explicit UnfinishedProfile(duckdb::ExecutionContext &context);
	~UnfinishedProfile();

	UnfinishedProfile(const UnfinishedProfile &) = delete;
	UnfinishedProfile &operator=(const UnfinishedProfile &) = delete;

private:
	duckdb::ClientContext &client_;
	duckdb::optional_ptr<duckdb::ThreadContext> thread_;
};

} // namespace skein
