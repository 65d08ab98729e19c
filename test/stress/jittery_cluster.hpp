#pragma once

#include "test/support/temporary_folder.hpp"
#include "transport/faulty_transport.hpp"
#include "worker/task_watcher.hpp"
#include "worker/worker_service.hpp"

#include <memory>
#include <string>
#include <vector>

namespace skein::test {

//! The workers of a run, and what lies between them.
struct ClusterShape {
	//! Otherwise links inside the process.
	bool grpc = false;
	size_t workers = 3;
	//! Of all workers together: they share an instance.
	size_t threads = 2;
	//! Of each worker; 0: no limit.
	size_t slots = 0;
	std::string memory_limit = "1GB";
	//! Every frame waits up to so long; those of different links overtake each other.
	uint64_t seed = 0;
	std::chrono::microseconds max_delay{0};

	std::string Describe() const;
};

//! Workers inside this process with a transport between them, and between them and the session, that delays by seed.
class JitteryCluster {
public:
	explicit JitteryCluster(const ClusterShape &shape);
	~JitteryCluster();

	//! For the session.
	const std::shared_ptr<Transport> &GetTransport() const {
		return transport_;
	}
	//! `a:1,b:2,...`
	const std::string &AddressList() const {
		return address_list_;
	}
	//! What runs on each worker, in a line each.
	std::string Describe();
	//! Stops the workers; returns what is left of queries, which should be nothing. No query runs any more. Idempotent.
	std::string Stop();

private:
	struct JitteryTransport;

	const TemporaryFolder temp_folder_;
	duckdb::unique_ptr<duckdb::DuckDB> db_;
	std::shared_ptr<Transport> transport_;
	TaskWatcher watcher_;
	std::vector<std::unique_ptr<WorkerService>> services_;
	std::string address_list_;
};

} // namespace skein::test
