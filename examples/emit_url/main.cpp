// Four workers that know a source of our own, and two queries that read it. Prints the rows, with `worker 1` for the
// address of the first worker, and so on; ends with 1 if they are not the rows that the estimator asks for.

#include "emit_url.hpp"

#include <iostream>

namespace {

using Rows = std::vector<std::string>;

constexpr size_t WORKERS = 4;

//! The workers of this program; the last two have the label `big`.
class OwnWorkers final : public skein::WorkerResolver {
public:
	OwnWorkers() {
		skein::WorkerOptions options;
		options.threads = 1;
		options.memory_limit = "256MB";
		options.set_up = RegisterEmitUrl;
		for (size_t i = 0; i < WORKERS; i++) {
			workers_.push_back(skein::Worker::Start(options));
		}
	}
	std::vector<skein::WorkerInfo> Resolve() const override {
		std::vector<skein::WorkerInfo> result;
		for (auto &worker : workers_) {
			result.push_back({worker->Address(), {}});
			if (result.size() > WORKERS / 2) {
				result.back().labels = {"big"};
			}
		}
		return result;
	}

private:
	std::vector<std::unique_ptr<skein::Worker>> workers_;
};

Rows Run(duckdb::Connection &connection, const std::string &sql) {
	auto result = connection.Query(sql);
	if (result->HasError()) {
		result->ThrowError();
	}
	Rows rows;
	for (duckdb::idx_t row = 0; row < result->RowCount(); row++) {
		std::string text;
		for (duckdb::idx_t column = 0; column < result->ColumnCount(); column++) {
			text += (column > 0 ? " | " : "") + result->GetValue(column, row).ToString();
		}
		rows.push_back(text);
	}
	return rows;
}

//! Runs and prints `sql`. Returns whether its rows are `expected`, in which `@1` stands for the first worker.
bool Check(duckdb::Connection &connection, const OwnWorkers &workers, const std::string &sql, const Rows &expected) {
	std::cout << sql << "\n";
	auto rows = Run(connection, sql);
	for (auto &row : rows) {
		for (size_t i = 0; i < WORKERS; i++) {
			row = duckdb::StringUtil::Replace(row, workers.Resolve()[i].address, "worker " + std::to_string(i + 1));
		}
		std::cout << "  " << row << "\n";
	}
	if (rows != expected) {
		std::cerr << "emit_url: expected were\n";
		for (auto &row : expected) {
			std::cerr << "  " << row << "\n";
		}
	}
	return rows == expected;
}

} // namespace

int main() {
	auto workers = std::make_shared<OwnWorkers>();
	duckdb::DuckDB database(nullptr);
	RegisterEmitUrl(*database.instance);
	skein::AttachOptions options;
	options.estimators = {std::make_shared<EmitUrlEstimator>()};
	options.resolver = workers;
	skein::Attach(*database.instance, options);
	duckdb::Connection connection(database);
	Run(connection, "SET skein_max_tasks = 10");

	// A left side of 8 tasks: Skein deals them to the workers in turn.
	auto join = Check(connection, *workers,
					  "SELECT n, url, name FROM emit_url(8) LEFT JOIN (VALUES (1, 'one'), (6, 'six')) t(n, name) "
					  "USING (n) ORDER BY n",
					  {"0 | worker 1 | NULL", "1 | worker 2 | one", "2 | worker 3 | NULL", "3 | worker 4 | NULL",
					   "4 | worker 1 | NULL", "5 | worker 2 | NULL", "6 | worker 3 | six", "7 | worker 4 | NULL"});
	// A union whose right side of 2 tasks runs where the estimator says.
	auto sum = Check(connection, *workers,
					 "SELECT n, url FROM emit_url(8) UNION ALL SELECT n + 100, url FROM emit_url(2, label := 'big') "
					 "ORDER BY n",
					 {"0 | worker 1", "1 | worker 2", "2 | worker 3", "3 | worker 4", "4 | worker 1", "5 | worker 2",
					  "6 | worker 3", "7 | worker 4", "100 | worker 3", "101 | worker 4"});
	return join && sum ? 0 : 1;
}
