#include "worker/worker_service.hpp"

#include "duckdb/parallel/task_scheduler.hpp"
#include "exchange/messages.hpp"
#include "skein/version.hpp"
#include "wire/messages/error_codec.hpp"
#include "wire/messages/status_codec.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! How long a cancelled task may take to notice.
constexpr std::chrono::seconds STOP_DEADLINE{5};

//! The name under which this node knows the link to the coordinator of a query.
string CoordinatorName(const AttemptKey &key) {
	return string(COORDINATOR_ADDRESS) + "/" + key.query + "/" + std::to_string(key.attempt);
}

bool HasAllRows(const TaskChannels &channels) {
	return std::all_of(channels.outputs.begin(), channels.outputs.end(), [](auto &it) { return it->IsFinished(); });
}

//! What a task that has ended did.
void EncodeNumbers(const TaskChannels &channels, const TaskResult &result, wire::TaskEnded &ended) {
	for (auto &output : channels.outputs) {
		auto &target = *ended.add_outputs();
		target.set_rows(output->AppendedRows());
		target.set_bytes(output->AppendedBytes());
		target.set_pages(output->AppendedPages());
		ended.set_output_rows(ended.output_rows() + target.rows());
		ended.set_output_bytes(ended.output_bytes() + target.bytes());
	}
	for (auto &metrics : result.operators) {
		auto &target = *ended.add_operators();
		target.set_rows(metrics.rows);
		target.set_micros(metrics.micros);
		if (metrics.rows_read) {
			target.set_rows_read(*metrics.rows_read);
		}
		if (metrics.row_groups_read) {
			target.set_row_groups_read(*metrics.row_groups_read);
		}
		if (metrics.row_groups_skipped) {
			target.set_row_groups_skipped(*metrics.row_groups_skipped);
		}
		if (metrics.blocked_micros) {
			target.set_blocked_micros(*metrics.blocked_micros);
		}
		if (metrics.units) {
			target.set_units(*metrics.units);
		}
	}
	ended.set_wall_micros(static_cast<uint64_t>(result.wall.count()));
	ended.set_queue_micros(static_cast<uint64_t>(result.queue.count()));
	ended.set_bytes_read(result.bytes_read);
	ended.set_peak_memory_bytes(result.peak_memory_bytes);
	ended.set_peak_temp_bytes(result.peak_temp_bytes);
	ended.set_cpu_micros(static_cast<uint64_t>(result.cpu.count()));
}

WorkerEvent EventOf(WorkerEvent::Kind kind, const AttemptKey &query) {
	WorkerEvent event;
	event.kind = kind;
	event.query = query.query;
	event.attempt = query.attempt;
	return event;
}

WorkerEvent EventOf(const wire::TaskEnded &ended, const TaskResult &result) {
	auto event = EventOf(WorkerEvent::Kind::TASK_ENDED, {ended.query(), ended.attempt()});
	event.stage = ended.stage();
	event.task = ended.task();
	auto &end = event.end.emplace();
	end.state = !ended.has_error() ? "finished" : ended.error().consequence() ? "cancelled" : "failed";
	end.error = ended.has_error() ? ended.error().message() : std::string();
	end.rows = ended.output_rows();
	end.bytes = ended.output_bytes();
	end.wall = result.wall;
	end.queue = result.queue;
	return event;
}

void EncodeUnits(TaskUnits &units, wire::TaskEnded &ended) {
	if (auto counts = units.Counts()) {
		ended.mutable_units()->set_read(counts->read);
		ended.mutable_units()->set_taken(counts->taken);
		ended.mutable_units()->set_given(counts->given);
	}
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
							 LinkOptions options, size_t slots, OnEvent on_event)
	: db_(db), watcher_(watcher), own_address_(own_address), on_event_(std::move(on_event)),
	  token_(TaskScheduler::GetScheduler(db).CreateProducer()),
	  admission_(slots, [this](auto &tasks) { OnTasksStarted(tasks); }), node_(transport, own_address, *this, options) {
}

WorkerService::~WorkerService() {
	Stop(std::chrono::milliseconds(0));
	WaitIdle();
}

void WorkerService::WaitIdle() {
	std::unique_lock<std::mutex> guard(mutex_);
	idle_.wait(guard, [&]() { return queries_.empty(); });
}

bool WorkerService::Stop(std::chrono::milliseconds grace) {
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
	bool ended;
	{
		std::unique_lock<std::mutex> guard(mutex_);
		ended = idle_.wait_for(guard, STOP_DEADLINE, [&]() { return queries_.empty(); });
	}
	node_.Stop();
	return ended;
}

std::shared_ptr<WorkerService::Query> WorkerService::Find(const AttemptKey &key) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto entry = queries_.find(key);
	return entry == queries_.end() ? nullptr : entry->second;
}

void WorkerService::Announce(const WorkerEvent &event) const {
	if (on_event_) {
		on_event_(event);
	}
}

void WorkerService::OnTasksStarted(const std::vector<WaitingTask> &tasks) {
	std::map<AttemptKey, wire::Message> messages;
	for (auto &task : tasks) {
		auto event = EventOf(WorkerEvent::Kind::TASK_STARTED, task.query);
		event.stage = task.stage;
		event.task = task.task;
		Announce(event);
		auto &message = *messages[task.query].mutable_tasks_started();
		message.set_query(task.query.query);
		message.set_attempt(task.query.attempt);
		message.set_has_slots(admission_.Slots() > 0);
		auto &started = *message.add_tasks();
		started.set_stage(task.stage);
		started.set_task(task.task);
	}
	for (auto &[key, message] : messages) {
		if (auto query = Find(key)) {
			SendMessage(*query->link, message);
		}
	}
}

WaitingTask WorkerService::MakeWaiting(const std::shared_ptr<Query> &query, const wire::Task &spec,
									   const std::shared_ptr<WorkerTask> &task) {
	WaitingTask waiting{query->key, spec.stage(), spec.task(), {}, [this, task]() { task->Launch(*token_); }};
	for (auto &source : spec.inputs()) {
		auto &addresses = source.addresses();
		// What the session gives needs no start.
		if (std::any_of(addresses.begin(), addresses.end(), [](auto &it) { return it != COORDINATOR_ADDRESS; })) {
			waiting.inputs.insert(source.stage());
		}
	}
	return waiting;
}

void WorkerService::OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) {
	if (message.has_start_tasks()) {
		StartTasks(link, message.start_tasks());
		return;
	}
	if (message.has_ask_status()) {
		wire::Message answer;
		EncodeStatus(Status(message.ask_status().tasks_of()), *answer.mutable_status());
		answer.mutable_status()->set_request(message.ask_status().request());
		SendMessage(*link, answer);
		return;
	}
	if (message.has_cancel_query()) {
		CancelQuery(message.cancel_query().query());
		return;
	}
	if (message.has_stages_started()) {
		auto &stages = message.stages_started();
		AttemptKey key{stages.query(), stages.attempt()};
		if (Find(key)) {
			admission_.StagesStarted(key, {stages.stages().begin(), stages.stages().end()});
		}
		return;
	}
	if (message.has_release_units()) {
		ReleaseUnits(link, message.release_units());
		return;
	}
	if (message.has_give_units()) {
		auto &give = message.give_units();
		auto units = FindUnits(give.leaf());
		if (auto leaf = units ? units->Leaf(give.leaf().leaf()) : nullptr) {
			leaf->Give({give.parcel().units(), give.parcel().slice()});
		}
		return;
	}
	if (message.has_end_query()) {
		AttemptKey key{message.end_query().query(), message.end_query().attempt()};
		if (auto query = Find(key)) {
			EndQuery(query);
			return;
		}
		// Of a query whose start never came here, others may still have asked for outputs.
		node_.Exchange().DropAttempt(key);
		SendQueryEnded(*link, key);
	}
}

duckdb::shared_ptr<TaskUnits> WorkerService::FindUnits(const wire::LeafId &leaf) {
	auto query = Find({leaf.query(), leaf.attempt()});
	if (!query) {
		return nullptr;
	}
	auto part = query->parts.find({leaf.stage(), leaf.task()});
	return part == query->parts.end() ? nullptr : part->second.units;
}

void WorkerService::ReleaseUnits(const std::shared_ptr<Link> &link, const wire::ReleaseUnits &release) {
	auto answer = [link, release](LeafUnits *leaf) {
		wire::Message message;
		auto &released = *message.mutable_units_released();
		*released.mutable_leaf() = release.leaf();
		if (leaf) {
			uint64_t left;
			UnitPace pace;
			if (release.has_micros_per_unit()) {
				pace = std::chrono::microseconds(release.micros_per_unit());
			}
			auto parcel = leaf->Release(release.at_least(), pace, left);
			released.set_left(left);
			released.mutable_parcel()->set_units(parcel.units);
			released.mutable_parcel()->set_slice(parcel.slice);
		}
		SendMessage(*link, message);
	};
	auto units = FindUnits(release.leaf());
	if (units && admission_.Slots() == 0) {
		units->WithLeaf(release.leaf().leaf(), std::move(answer));
	} else {
		// Whoever asks has a slot that this task may wait for.
		auto leaf = units ? units->Leaf(release.leaf().leaf()) : nullptr;
		answer(leaf.get());
	}
}

void WorkerService::CancelQuery(const std::string &query) {
	std::vector<std::shared_ptr<Link>> coordinators;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &[key, running] : queries_) {
			if (key.query == query) {
				coordinators.push_back(running->link);
			}
		}
	}
	wire::Message message;
	message.mutable_query_cancelled()->set_query(query);
	for (auto &link : coordinators) {
		SendMessage(*link, message);
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
		done_.queries++;
	}
	auto event = EventOf(WorkerEvent::Kind::QUERY_STARTED, query->key);
	event.tasks = static_cast<uint32_t>(start.tasks_size());
	Announce(event);
	node_.AddAlias(CoordinatorName(query->key), link);
	std::vector<std::shared_ptr<WorkerTask>> tasks;
	for (auto &task : start.tasks()) {
		tasks.push_back(MakeTask(query, start, task, start.worker_name()));
	}
	std::vector<WaitingTask> waiting;
	for (int i = 0; i < start.tasks_size(); i++) {
		waiting.push_back(MakeWaiting(query, start.tasks(i), tasks[static_cast<size_t>(i)]));
	}
	{
		std::lock_guard<std::mutex> guard(mutex_);
		query->tasks = tasks;
	}
	admission_.Add(std::move(waiting));
	if (admission_.Slots() > 0) {
		wire::Message message;
		auto &announcement = *message.mutable_tasks_started();
		announcement.set_query(query->key.query);
		announcement.set_attempt(query->key.attempt);
		announcement.set_has_slots(true);
		SendMessage(*link, message);
	}
	bool ending;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ending = query->ending;
	}
	if (ending) {
		// Its end may not have known of the tasks.
		for (auto &task : tasks) {
			task->Cancel();
		}
		admission_.Release(query->key);
	}
}

std::shared_ptr<WorkerTask> WorkerService::MakeTask(const std::shared_ptr<Query> &query, const wire::StartTasks &start,
													const wire::Task &task, const std::string &own_name) {
	TaskSpec spec;
	spec.key = TaskKey{query->key.query, task.stage(), task.task(), query->key.attempt};
	spec.plan = task.plan();
	spec.worker = own_name;
	for (auto &setting : start.settings()) {
		spec.settings.emplace_back(setting.name(), setting.value());
	}
	for (auto &setting : start.remote_access().settings()) {
		spec.remote_access.settings.emplace_back(setting.name(), setting.value());
	}
	spec.remote_access.secrets = start.remote_access().secrets();
	spec.profile = start.profile();
	auto &part = query->parts[{task.stage(), task.task()}];
	if (start.has_unit_sharing()) {
		part.units = MakeUnits(*query, start.unit_sharing(), task);
		spec.units = part.units;
	}
	auto channels = make_shared_ptr<TaskChannels>();
	channels->page_bytes = start.page_bytes();
	auto compression = static_cast<LinkCompression>(start.compression());
	part.channels = channels;
	for (int i = 0; i < task.output_partitions_size(); i++) {
		// With slots, a task must not wait for consumers that have none.
		auto unbounded = task.output_unbounded(i) || admission_.Slots() > 0;
		auto capacity = unbounded ? OutputBuffer::UNBOUNDED : start.buffer_bytes();
		auto buffer = std::make_shared<OutputBuffer>(task.output_partitions(i), capacity);
		node_.Exchange().AddOutput(spec.key, static_cast<uint32_t>(i), buffer, compression);
		channels->outputs.push_back(std::move(buffer));
	}
	for (auto &source : task.inputs()) {
		part.inputs.push_back(source.stage());
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

duckdb::shared_ptr<TaskUnits> WorkerService::MakeUnits(const Query &query, const wire::UnitSharing &sharing,
													   const wire::Task &task) {
	SharingOptions options;
	options.always = sharing.always();
	options.never = sharing.never();
	auto is_slow = task.task() == sharing.slow_task();
	options.unit_delay =
		std::chrono::microseconds(is_slow ? sharing.unit_delay_micros() : sharing.other_unit_delay_micros());
	TaskKey key{query.key.query, task.stage(), task.task(), query.key.attempt};
	auto ask = [link = query.link, key](uint64_t leaf, UnitPace pace) {
		wire::Message message;
		if (pace) {
			message.mutable_want_units()->set_micros_per_unit(static_cast<uint64_t>(pace->count()));
		}
		auto &target = *message.mutable_want_units()->mutable_leaf();
		target.set_query(key.query);
		target.set_attempt(key.attempt);
		target.set_stage(key.stage);
		target.set_task(key.task);
		target.set_leaf(leaf);
		SendMessage(*link, message);
	};
	std::vector<uint64_t> others(task.most_units_of_others().begin(), task.most_units_of_others().end());
	return make_shared_ptr<TaskUnits>(options, std::move(others), std::move(ask));
}

void WorkerService::OnTaskEnd(const std::shared_ptr<Query> &query, const TaskKey &key, const TaskChannels &channels,
							  const TaskResult &result) {
	wire::Message message;
	auto &ended = *message.mutable_task_ended();
	ended.set_query(key.query);
	ended.set_stage(key.stage);
	ended.set_task(key.task);
	ended.set_attempt(key.attempt);
	// One that was ended when it had put out all it had to has done its work.
	if (result.failed && !(result.consequence && HasAllRows(channels))) {
		EncodeError(result.error, result.consequence, *ended.mutable_error());
	}
	EncodeNumbers(channels, result, ended);
	auto &part = query->parts.at({key.stage, key.task});
	if (part.units) {
		EncodeUnits(*part.units, ended);
	}
	auto event = EventOf(ended, result);
	Announce(event);
	SendMessage(*query->link, message);
	bool last;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		CountLocked(ended);
		part.end = std::move(event.end);
		query->running--;
		last = query->running == 0 && query->ending;
	}
	admission_.TaskEnded();
	if (last) {
		Forget(query);
	}
}

void WorkerService::CountLocked(const wire::TaskEnded &ended) {
	if (!ended.has_error()) {
		done_.finished_tasks++;
	} else if (ended.error().consequence()) {
		done_.cancelled_tasks++;
	} else {
		done_.failed_tasks++;
	}
	done_.output_rows += ended.output_rows();
	done_.output_bytes += ended.output_bytes();
	auto &durations = done_.task_durations;
	auto &limits = TaskDurations::LIMITS_SECONDS;
	auto limit = std::lower_bound(limits.begin(), limits.end(), static_cast<double>(ended.wall_micros()) / 1e6);
	durations.count[static_cast<size_t>(limit - limits.begin())]++;
	durations.total_micros += ended.wall_micros();
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
	admission_.Release(query->key);
	if (idle) {
		Forget(query);
	}
}

void WorkerService::Forget(const std::shared_ptr<Query> &query) {
	node_.Exchange().DropAttempt(query->key);
	node_.RemoveAlias(CoordinatorName(query->key));
	admission_.Forget(query->key);
	wire::Message message;
	auto &ended = *message.mutable_query_ended();
	ended.set_query(query->key.query);
	ended.set_attempt(query->key.attempt);
	for (auto &[task, part] : query->parts) {
		auto &sent = *ended.add_sent();
		sent.set_stage(task.first);
		sent.set_task(task.second);
		for (auto &output : part.channels->outputs) {
			auto bytes = output->LinkBytes();
			sent.set_bytes(sent.bytes() + bytes);
			sent.add_output_bytes(bytes);
		}
	}
	Announce(EventOf(WorkerEvent::Kind::QUERY_ENDED, query->key));
	SendMessage(*query->link, message);
	std::lock_guard<std::mutex> guard(mutex_);
	for (auto &sent : ended.sent()) {
		done_.link_bytes += sent.bytes();
	}
	// The tasks hold the query through their callbacks: this breaks the circle.
	query->tasks.clear();
	queries_.erase(query->key);
	idle_.notify_all();
}

} // namespace skein
