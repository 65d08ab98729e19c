#pragma once

#include "coordinator/query_run.hpp"
#include "coordinator/status_inquiry.hpp"

#include <thread>

namespace skein {

//! The node from which queries are run: knows the running ones and hands them what their workers report.
//!
//! Owned by the DuckDB instance it serves; `transport` must outlive it. Thread-safe.
class Coordinator final : public ControlHandler {
public:
	Coordinator(Transport &transport, LinkOptions options);
	~Coordinator() override;

	//! Starts an execution for the query that runs in `context`; the caller ends it with QueryRun::Finish() while the
	//! context is alive, which is not looked at any more then. `timeout` 0: no limit. Throws when an address is
	//! malformed; nothing of the query runs then.
	std::shared_ptr<QueryRun> Run(duckdb::ClientContext &context, std::shared_ptr<const DistributedPlan> plan,
								  std::vector<std::string> workers, RunOptions options,
								  std::chrono::milliseconds timeout);
	//! What the workers say of themselves, each within `timeout`, and of the tasks of one query. Throws when an address
	//! is malformed.
	std::vector<ClusterWorker> AskStatus(const std::vector<std::string> &workers, std::chrono::milliseconds timeout,
										 const std::string &tasks_of = "");
	//! Ends a query, of whatever session: one of this node, or one that these workers run tasks of. Returns whether
	//! there is one; it may end of itself meanwhile. Throws when an address is malformed.
	bool Cancel(const std::string &query, const std::vector<std::string> &workers, std::chrono::milliseconds timeout);
	//! Fails what still runs and closes all links. Idempotent.
	void Stop();

	void OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) override;
	void OnLinkLost(Link &link, const std::string &reason, bool had_answered) override;

private:
	struct Watched {
		duckdb::ClientContext *context;
		std::shared_ptr<QueryRun> run;
		std::chrono::steady_clock::time_point deadline;
	};

	std::shared_ptr<QueryRun> Find(const std::string &query);
	//! A query is over.
	void Forget(const std::string &query);
	//! Ends the queries whose session was interrupted or whose time is up. DuckDB tells nobody of an interrupt while a
	//! query waits for its inputs, so the flag is looked at as often as DuckDB's own wait looks for work.
	void Watch();

	std::mutex mutex_;
	std::condition_variable changed_;
	//! By query; those whose session still runs the query.
	std::map<std::string, Watched> watched_;
	//! By query; those that have tasks somewhere.
	std::map<std::string, std::weak_ptr<QueryRun>> runs_;
	//! Those that wait for answers, by the number of their request.
	std::map<uint64_t, std::shared_ptr<StatusInquiry>> inquiries_;
	uint64_t last_request_ = 0;
	bool stopping_ = false;
	Node node_;
	std::thread watcher_;
};

} // namespace skein
