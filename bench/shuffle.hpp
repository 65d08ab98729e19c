#pragma once

#include "duckdb.hpp"
#include "exchange/node.hpp"
#include "worker/task_watcher.hpp"
#include "worker/worker_task.hpp"

#include <memory>
#include <string>

namespace skein::bench {

//! CPU seconds of this process up to now, all threads.
double CpuSeconds();

//! One node with the engine that runs its tasks.
struct Side : public ControlHandler {
	//! `engine`: another side's engine, to share it.
	Side(Transport &transport, const std::string &name, duckdb::idx_t threads,
		 std::shared_ptr<duckdb::DuckDB> engine = nullptr);
	~Side() override;

	void OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) override {
	}
	void OnLinkLost(Link &link, const std::string &reason, bool had_answered) override {
	}

	std::shared_ptr<duckdb::DuckDB> engine;
	duckdb::Connection connection;
	duckdb::unique_ptr<duckdb::ProducerToken> token;
	TaskWatcher watcher;
	Node node;
};

//! What went through an exchange, or out of a table, and what it cost.
struct Flow {
	double wall_s = 0;
	double cpu_s = 0;
	duckdb::idx_t rows = 0;
	duckdb::idx_t bytes = 0;
	duckdb::idx_t pages = 0;
};

//! A shuffle of one table by its first column, as tasks of a query do it: a task on one node scans the table and
//! partitions it, a task on the other reads all partitions and counts their rows.
//!
//! The nodes share the process: CPU seconds are those of both. In process they share one engine with two threads; over
//! gRPC each has an engine with one thread, and pages go through a socket of the loopback interface.
class Shuffle {
public:
	enum class Path { IN_PROCESS, GRPC };

	//! `sql` makes the table. Throws when it fails.
	Shuffle(Path path, const std::string &sql);
	~Shuffle();

	//! One run. Throws if a task fails or a row is missing.
	Flow Run(duckdb::idx_t partitions, duckdb::idx_t page_bytes);
	//! Reads the table and drops the rows: what a run costs before the exchange gets them.
	Flow ReadAlone();

private:
	duckdb::shared_ptr<TaskChannels> MakeReader(const TaskKey &producer, duckdb::idx_t partitions,
												duckdb::idx_t page_bytes);

	std::unique_ptr<Transport> transport_;
	std::unique_ptr<Side> writer_;
	std::unique_ptr<Side> reader_;
	std::string writer_address_;
	duckdb::vector<duckdb::LogicalType> types_;
	std::string write_plan_;
	std::string read_plan_;
	duckdb::idx_t rows_ = 0;
	duckdb::idx_t queries_ = 0;
};

} // namespace skein::bench
