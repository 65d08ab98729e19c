#pragma once

#include "duckdb.hpp"

#include <functional>
#include <string>
#include <vector>

namespace skein {

//! Calls `use` with the optimized logical plan of `sql`, as an optimizer extension sees it; nothing is executed.
void WithOptimizedPlan(
	duckdb::Connection &connection, const std::string &sql,
	const std::function<void(duckdb::ClientContext &, duckdb::unique_ptr<duckdb::LogicalOperator> &)> &use);

//! The rows of `result`, each as text; throws its error.
std::vector<std::string> RowsOf(duckdb::QueryResult &result);

//! Executes serialised plans in a DuckDB instance of its own, as a worker does but without exchanges. For tests.
class FakeWorker {
public:
	FakeWorker();

	//! The rows of the plan; throws what DuckDB throws. `inspect` sees the plan before it is executed.
	std::vector<std::string> Run(const std::string &bytes,
								 const std::function<void(duckdb::LogicalOperator &)> &inspect = nullptr);
	//! Runs a statement, such as a setting, for all plans that follow.
	void Query(const std::string &sql);

	duckdb::DatabaseInstance &Instance() {
		return *database_.instance;
	}

private:
	duckdb::DuckDB database_;
	duckdb::Connection connection_;
};

} // namespace skein
