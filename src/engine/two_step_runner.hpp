#pragma once

#include "engine/aggregate_parts.hpp"

#include "duckdb.hpp"

#include <map>
#include <string>
#include <vector>

namespace skein {

//! A query with one aggregate expression over slices of a table; the table has a column `slice`.
struct AggregateQuery {
	std::string aggregate;
	//! Empty: without GROUP BY.
	std::string group = "g";
	std::string where = "true";
	std::string table = "t";

	std::string Sql(const std::string &slice_filter) const;
};

//! The result by group; a group is written as text, and is `<all>` without GROUP BY.
using Groups = std::map<std::string, duckdb::Value>;

//! Runs aggregates as a whole and in two steps, for comparison. For tests.
//!
//! Has two DuckDB instances: the coordinator plans, the worker executes the plans that it reads.
class TwoStepRunner {
public:
	TwoStepRunner();

	//! Runs a statement on both instances.
	void Prepare(const std::string &sql);
	//! What plain DuckDB says.
	Groups RunWhole(const AggregateQuery &query, const std::vector<int> &slices);
	//! The union of one partial aggregate per slice below one final aggregate, executed by the worker.
	Groups RunInTwoSteps(const AggregateQuery &query, const std::vector<int> &slices);
	//! The same without serialisation: what gets lost in it, such as the ranges of groups, counts here.
	Groups RunInTwoStepsLocally(const AggregateQuery &query, const std::vector<int> &slices);
	//! The reason why the aggregate cannot be split; empty if it can.
	std::string ReasonAgainst(const std::string &aggregate);
	//! Calls `use` with the aggregate in the optimized plan of a query, inside a transaction of the coordinator.
	void
	WithAggregate(const AggregateQuery &query,
				  const std::function<void(duckdb::ClientContext &, const duckdb::BoundAggregateExpression &)> &use);

	duckdb::Connection &CoordinatorConnection() {
		return coordinator_.connection;
	}

private:
	struct Instance {
		Instance();

		duckdb::DuckDB database;
		duckdb::Connection connection;
	};

	Instance coordinator_;
	Instance worker_;
};

} // namespace skein
