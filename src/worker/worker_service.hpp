#pragma once

#include "exchange/messages.hpp"
#include "exchange/node.hpp"
#include "skein/worker_event.hpp"
#include "skein/worker_status.hpp"
#include "worker/admission.hpp"
#include "worker/task_watcher.hpp"
#include "worker/worker_task.hpp"

#include <map>
#include <set>

namespace skein {

//! A worker: runs the tasks that coordinators send to its node.
//!
//! Owned by the process, or by LocalWorkers; `db`, `watcher` and `transport` must outlive it. Thread-safe.
//! A query's tasks, outputs and memory live until the coordinator ends the query, its link closes, or Stop().
class WorkerService final : public ControlHandler {
public:
	using OnEvent = std::function<void(const WorkerEvent &)>;

	//! `own_address` names the node among those that share its transport's addresses. `slots` as in Admission.
	//! `on_event` as in WorkerOptions.
	WorkerService(duckdb::DatabaseInstance &db, TaskWatcher &watcher, Transport &transport, std::string own_address,
				  LinkOptions options, size_t slots = 0, OnEvent on_event = nullptr);
	~WorkerService() override;

	Node &GetNode() {
		return node_;
	}
	//! Waits until `grace` for running queries to end, cancels the rest, closes all links. Idempotent.
	//! Returns false if a task has not ended in the five seconds after its cancellation.
	bool Stop(std::chrono::milliseconds grace);
	//! After Stop(): waits for what it has not waited for.
	void WaitIdle();
	//! With the tasks of one query, if it runs here.
	WorkerStatus Status(const std::string &tasks_of = "");

	void OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) override;
	void OnLinkLost(Link &link, const std::string &reason, bool had_answered) override;

private:
	using TaskNumber = std::pair<uint32_t, uint32_t>;

	//! What is known here of one task.
	struct Part {
		duckdb::shared_ptr<TaskChannels> channels;
		//! If its leaves share units with other tasks'.
		duckdb::shared_ptr<TaskUnits> units;
		//! The stages that it reads.
		std::vector<uint32_t> inputs;
		std::optional<WorkerEvent::TaskEnd> end;
	};

	//! What runs here of one attempt of a query.
	struct Query {
		AttemptKey key;
		std::shared_ptr<Link> link;
		//! Empty until all are made, and when the query is gone.
		std::vector<std::shared_ptr<WorkerTask>> tasks;
		//! By stage and task. Complete before there are tasks; only `end` changes then.
		std::map<TaskNumber, Part> parts;
		//! Tasks that have not ended, those that wait included.
		size_t running = 0;
		std::chrono::steady_clock::time_point started_at = std::chrono::steady_clock::now();
		bool ending = false;
	};

	void StartTasks(const std::shared_ptr<Link> &link, const wire::StartTasks &start);
	//! Builds a task with its outputs and inputs; the outputs can be read from then on.
	std::shared_ptr<WorkerTask> MakeTask(const std::shared_ptr<Query> &query, const wire::StartTasks &start,
										 const wire::Task &task, const std::string &own_name);
	duckdb::shared_ptr<TaskUnits> MakeUnits(const Query &query, const wire::UnitSharing &sharing,
											const wire::Task &task);
	//! nullptr if the task does not run here, or has no leaves that share units.
	duckdb::shared_ptr<TaskUnits> FindUnits(const wire::LeafId &leaf);
	//! The task as it waits for its start.
	WaitingTask MakeWaiting(const std::shared_ptr<Query> &query, const wire::Task &spec,
							const std::shared_ptr<WorkerTask> &task);
	//! Asks the coordinator of a query to end it.
	void CancelQuery(const std::string &query);
	//! Tells the coordinators.
	void OnTasksStarted(const std::vector<WaitingTask> &tasks);
	//! Of the last attempt of the query here.
	std::vector<WorkerTaskStatus> TasksOf(const std::string &query_name);
	//! As if it did not wait for a slot.
	static WorkerTaskStatus StatusLocked(const Query &query, TaskNumber number, const Part &part);
	void CountLocked(const wire::TaskEnded &ended);
	std::shared_ptr<Query> Find(const AttemptKey &key);
	//! Answers as soon as the task's plan is there; at once if that may take until other tasks have ended.
	void ReleaseUnits(const std::shared_ptr<Link> &link, const wire::ReleaseUnits &release);
	void OnTaskEnd(const std::shared_ptr<Query> &query, const TaskKey &key, const TaskChannels &channels,
				   const TaskResult &result);
	//! Cancels what runs of a query; its state goes when the last task has ended.
	void EndQuery(const std::shared_ptr<Query> &query);
	void Forget(const std::shared_ptr<Query> &query);

	//! Tells the log.
	void Announce(const WorkerEvent &event) const;

	duckdb::DatabaseInstance &db_;
	TaskWatcher &watcher_;
	const std::string own_address_;
	const OnEvent on_event_;
	duckdb::unique_ptr<duckdb::ProducerToken> token_;
	Admission admission_;
	std::mutex mutex_;
	std::condition_variable idle_;
	std::map<AttemptKey, std::shared_ptr<Query>> queries_;
	bool stopping_ = false;
	//! What it has done so far.
	WorkerStatus done_;
	Node node_;
};

} // namespace skein
