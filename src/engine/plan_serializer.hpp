#pragma once

#include "duckdb.hpp"

#include <string>

namespace duckdb {
class Binder;
class LogicalOperator;
} // namespace duckdb

namespace skein {

//! Which of DuckDB's last passes are to be run again on a plan that was read, and what it does not say itself.
struct RunTimeHelp {
	bool top_n = true;
	bool join_filters = true;
	//! Operators of the plan that were a LogicalPartialAggregate.
	duckdb::vector<const duckdb::LogicalOperator *> partial_aggregates;
};

//! The bytes of an optimized logical plan, for DeserializePlan in this or another process of the same DuckDB version.
//!
//! Carries DuckDB's own serialisation and, beside it, the estimated cardinality of every operator in pre-order, which
//! DuckDB drops, which aggregates are a LogicalPartialAggregate, and which run-time help the session wants, by its
//! `disabled_optimizers`. Throws
//! duckdb::NotImplementedException or duckdb::SerializationException when an operator, function or filter of the plan
//! cannot be serialised.
std::string SerializePlan(duckdb::ClientContext &context, const duckdb::LogicalOperator &plan);

//! The plan that SerializePlan wrote, with types and cardinalities resolved.
//!
//! Needs an open transaction that stays open until the plan has been executed, and the settings of the session that
//! wrote the plan: functions are looked up and bound again. `binder` is advanced past every table index of the plan, so
//! that optimizer passes given this binder cannot reuse one. `help` is set to what the session wants.
//! Throws duckdb::SerializationException when the bytes are not a plan of this format, and DuckDB's own errors when
//! something that the plan names is missing here.
duckdb::unique_ptr<duckdb::LogicalOperator> DeserializePlan(duckdb::ClientContext &context, const std::string &bytes,
															duckdb::Binder &binder, RunTimeHelp *help = nullptr);

//! Makes `binder` give out only table indices that no operator of `plan` uses.
void AdvancePastTableIndices(duckdb::Binder &binder, const duckdb::LogicalOperator &plan);

//! Re-runs the optimizer passes whose result is lost in serialisation and which change speed only: TopN's dynamic
//! filter and join filter pushdown. Partial aggregates adapt to what they read (UseAdaptiveAggregates). The rows, but
//! of these, the columns and the bindings of `plan` stay the same.
//!
//!     TopN                    TopN [filter f]
//!       Get            =>       Get [table filter: f]
//!
//! `binder` must be past the plan's table indices, as after DeserializePlan.
void RestoreRunTimeHelp(duckdb::Binder &binder, duckdb::ClientContext &context,
						duckdb::unique_ptr<duckdb::LogicalOperator> &plan, RunTimeHelp help = {});

} // namespace skein
