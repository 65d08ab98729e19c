#include "worker/worker_service.hpp"

#include "duckdb/parallel/task_scheduler.hpp"
#include "exchange/messages.hpp"
#include "wire/messages/error_codec.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The name under which this node knows the link to the coordinator of a query.
string CoordinatorName(const AttemptKey &key) {
	return string(COORDINATOR_ADDRESS) + "/" + key.query + "/" + std::to_string(key.attempt);
}

//! Nothing of an attempt is left here. Unasked: it will not be run here to its end.
void SendQueryEnded(Link &link, const AttemptKey &key) {
	wire::Message message;
	message.mutable_query_ended()->set_query(key.query);
	message.mutable_query_ended()->set_attempt(key.attempt);
	SendMessage(link, message);
}

} // namespace

WorkerService::WorkerService(DatabaseInstance &db, TaskWatcher &watcher, Transport &transport, std::string own_address,
							 LinkOptions options)
	: db_(db), watcher_(watcher), own_address_(own_address), token_(TaskScheduler::GetScheduler(db).CreateProducer()),
	  node_(transport, own_address, *this, options) {
}

WorkerService::~WorkerService() {
	Stop(std::chrono::milliseconds(0));
}

void WorkerService::Stop(std::chrono::milliseconds grace) {
	std::vector<std::shared_ptr<Query>> left;
	{
		std::unique_lock<std::mutex> guard(mutex_);
		stopping_ = true;
		idle_.wait_for(guard, grace, [&]() { return queries_.empty(); });
		for (auto &entry : queries_) {
			left.push_back(entry.second);
		}
	}
	for (auto &query : left) {
		// Before the errors that this will cause.
		SendQueryEnded(*query->link, query->key);
		EndQuery(query);
	}
	{
		std::unique_lock<std::mutex> guard(mutex_);
		idle_.wait(guard, [&]() { return queries_.empty(); });
	}
	node_.Stop();
}

void WorkerService::OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) {
	if (message.has_start_tasks()) {
		StartTasks(link, message.start_tasks());
		return;
	}
	if (message.has_end_query()) {
		AttemptKey key{message.end_query().query(), message.end_query().attempt()};
		std::shared_ptr<Query> query;
		{
			std::lock_guard<std::mutex> guard(mutex_);
			auto entry = queries_.find(key);
			if (entry != queries_.end()) {
				query = entry->second;
			}
		}
		if (query) {
			EndQuery(query);
			return;
		}
		// Of a query whose start never came here, others may still have asked for outputs.
		node_.Exchange().DropAttempt(key);
		SendQueryEnded(*link, key);
	}
}

void WorkerService::OnLinkLost(Link &link, const std::string &reason, bool had_answered) {
	std::vector<std::shared_ptr<Query>> lost;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &entry : queries_) {
			if (entry.second->link.get() == &link) {
				lost.push_back(entry.second);
			}
		}
	}
	for (auto &query : lost) {
		EndQuery(query);
	}
}

void WorkerService::StartTasks(const std::shared_ptr<Link> &link, const wire::StartTasks &start) {
	auto query = std::make_shared<Query>();
	query->key = {start.query(), start.attempt()};
	query->link = link;
	// Its end may have overtaken its start.
	auto dropped = node_.Exchange().WasDropped(query->key);
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (stopping_ || dropped) {
			SendQueryEnded(*link, query->key);
			return;
		}
		queries_[query->key] = query;
		query->running = static_cast<size_t>(start.tasks_size());
	}
	node_.AddAlias(CoordinatorName(query->key), link);
	std::vector<std::shared_ptr<WorkerTask>> tasks;
	for (auto &task : start.tasks()) {
		tasks.push_back(MakeTask(query, start, task, start.worker_name()));
	}
	bool ending;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		query->tasks = tasks;
		ending = query->ending;
	}
	for (auto &task : tasks) {
		task->Launch(*token_);
		if (ending) {
			task->Cancel();
		}
	}
}

std::shared_ptr<WorkerTask> WorkerService::MakeTask(const std::shared_ptr<Query> &query, const wire::StartTasks &start,
													const wire::Task &task, const std::string &own_name) {
	TaskSpec spec;
	spec.key = TaskKey{query->key.query, task.stage(), task.task(), query->key.attempt};
	spec.plan = task.plan();
	for (auto &setting : start.settings()) {
		spec.settings.emplace_back(setting.name(), setting.value());
	}
	auto channels = make_shared_ptr<TaskChannels>();
	channels->page_bytes = start.page_bytes();
	auto compression = static_cast<LinkCompression>(start.compression());
	query->channels[{task.stage(), task.task()}] = channels;
	for (int i = 0; i < task.output_partitions_size(); i++) {
		auto capacity = task.output_unbounded(i) ? OutputBuffer::UNBOUNDED : start.buffer_bytes();
		auto buffer = std::make_shared<OutputBuffer>(task.output_partitions(i), capacity);
		node_.Exchange().AddOutput(spec.key, static_cast<uint32_t>(i), buffer, compression);
		channels->outputs.push_back(std::move(buffer));
	}
	for (auto &source : task.inputs()) {
		std::vector<Producer> producers;
		for (int i = 0; i < source.addresses_size(); i++) {
			auto address = source.addresses(i);
			if (address == own_name) {
				address = own_address_;
			} else if (address == COORDINATOR_ADDRESS) {
				address = CoordinatorName(query->key);
			}
			TaskKey producer{query->key.query, source.stage(), static_cast<uint32_t>(i), query->key.attempt};
			producers.push_back({address, {producer, source.output(), task.task()}});
		}
		channels->inputs.push_back(
			std::make_shared<ExchangeInput>(node_.Exchange(), std::move(producers), CreditBytes(start.page_bytes())));
	}
	auto key = spec.key;
	return std::make_shared<WorkerTask>(
		db_, watcher_, std::move(spec), channels,
		[this, query, key, channels](const TaskResult &result) { OnTaskEnd(query, key, *channels, result); });
}

void WorkerService::OnTaskEnd(const std::shared_ptr<Query> &query, const TaskKey &key, const TaskChannels &channels,
							  const TaskResult &result) {
	wire::Message message;
	auto &ended = *message.mutable_task_ended();
	ended.set_query(key.query);
	ended.set_stage(key.stage);
	ended.set_task(key.task);
	ended.set_attempt(key.attempt);
	if (result.failed) {
		EncodeError(result.error, result.consequence, *ended.mutable_error());
	}
	for (auto &output : channels.outputs) {
		ended.set_output_rows(ended.output_rows() + output->AppendedRows());
		ended.set_output_bytes(ended.output_bytes() + output->AppendedBytes());
	}
	ended.set_wall_micros(static_cast<uint64_t>(result.wall.count()));
	SendMessage(*query->link, message);
	bool last;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		query->running--;
		last = query->running == 0 && query->ending;
	}
	if (last) {
		Forget(query);
	}
}

void WorkerService::EndQuery(const std::shared_ptr<Query> &query) {
	std::vector<std::shared_ptr<WorkerTask>> tasks;
	bool idle;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (query->ending) {
			return;
		}
		query->ending = true;
		tasks = query->tasks;
		idle = query->running == 0;
	}
	for (auto &task : tasks) {
		task->Cancel();
	}
	if (idle) {
		Forget(query);
	}
}

void WorkerService::Forget(const std::shared_ptr<Query> &query) {
	node_.Exchange().DropAttempt(query->key);
	node_.RemoveAlias(CoordinatorName(query->key));
	wire::Message message;
	auto &ended = *message.mutable_query_ended();
	ended.set_query(query->key.query);
	ended.set_attempt(query->key.attempt);
	for (auto &[task, channels] : query->channels) {
		auto &sent = *ended.add_sent();
		sent.set_stage(task.first);
		sent.set_task(task.second);
		for (auto &output : channels->outputs) {
			sent.set_bytes(sent.bytes() + output->LinkBytes());
		}
	}
	SendMessage(*query->link, message);
	std::lock_guard<std::mutex> guard(mutex_);
	// The tasks hold the query through their callbacks: this breaks the circle.
	query->tasks.clear();
	queries_.erase(query->key);
	idle_.notify_all();
}

} // namespace skein
