#include "coordinator/query_run.hpp"

#include "coordinator/unit_messages.hpp"
#include "exchange/messages.hpp"
#include "wire/messages/error_codec.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! A cluster that loses workers faster than this is not one to run the query on.
constexpr uint32_t MAX_ATTEMPTS = 4;

wire::QueryEnded QueryEndedOf(const AttemptKey &key) {
	wire::QueryEnded ended;
	ended.set_query(key.query);
	ended.set_attempt(key.attempt);
	return ended;
}

TaskReport DecodeReport(const string &worker, const wire::TaskEnded &ended) {
	TaskReport report;
	report.stage = ended.stage();
	report.task = ended.task();
	report.worker = worker;
	if (ended.has_error()) {
		report.state = ended.error().consequence() ? TaskState::CANCELLED : TaskState::FAILED;
	}
	for (auto &output : ended.outputs()) {
		report.outputs.push_back({output.rows(), output.bytes(), 0, output.pages()});
	}
	report.wall_micros = ended.wall_micros();
	report.queue_micros = ended.queue_micros();
	for (auto &metrics : ended.operators()) {
		OperatorMetrics target{metrics.rows(), metrics.micros()};
		if (metrics.has_rows_read()) {
			target.rows_read = metrics.rows_read();
		}
		if (metrics.has_row_groups_read()) {
			target.row_groups_read = metrics.row_groups_read();
		}
		if (metrics.has_row_groups_skipped()) {
			target.row_groups_skipped = metrics.row_groups_skipped();
		}
		if (metrics.has_blocked_micros()) {
			target.blocked_micros = metrics.blocked_micros();
		}
		if (metrics.has_units()) {
			target.units = metrics.units();
		}
		report.operators.push_back(target);
	}
	report.bytes_read = ended.bytes_read();
	report.cpu_micros = ended.cpu_micros();
	report.peak_memory_bytes = ended.peak_memory_bytes();
	report.peak_temp_bytes = ended.peak_temp_bytes();
	if (ended.has_units()) {
		report.units = UnitCounts{ended.units().read(), ended.units().taken(), ended.units().given()};
	}
	return report;
}

} // namespace

QueryRun::QueryRun(Node &node, DatabaseInstance &db, std::shared_ptr<const DistributedPlan> plan, std::string id,
				   std::vector<std::string> workers, RunOptions options, std::function<void()> on_finish)
	: node_(node), db_(db), plan_(std::move(plan)), id_(std::move(id)), options_(options),
	  on_finish_(std::move(on_finish)), attempt_(plan_, {id_, 0}, std::move(workers)), units_(*plan_),
	  tasks_left_(attempt_.TaskCount()) {
	for (auto &worker : attempt_.UsedWorkers()) {
		running_.emplace(0, worker);
	}
	for (auto &input : plan_->head_inputs) {
		head_inputs_.push_back(std::make_shared<ExchangeInput>(node_.Exchange(), attempt_.ProducersOf(input),
															   CreditBytes(options_.page_bytes),
															   OnConsequence::LEAVE_TO_OWNER));
		head_inputs_.back()->SetProgress(progress_);
	}
	progress_->Begin(tasks_left_);
}

void QueryRun::MakeSessionStages() {
	for (auto &stage : plan_->stages) {
		if (!stage.in_session) {
			continue;
		}
		auto channels = make_shared_ptr<TaskChannels>();
		channels->page_bytes = options_.page_bytes;
		for (uint32_t output = 0; output < stage.outputs.size(); output++) {
			auto buffer = std::make_shared<OutputBuffer>(stage.outputs[output].partitions, OutputBuffer::UNBOUNDED);
			if (options_.retry == Retry::QUERY) {
				buffer->KeepForReplay(options_.buffer_bytes);
			}
			channels->outputs.push_back(buffer);
			session_outputs_.push_back({stage.id, output, std::move(buffer)});
		}
		session_channels_[stage.id] = std::move(channels);
	}
}

void QueryRun::Start() {
	MakeSessionStages();
	if (options_.retry == Retry::QUERY) {
		std::weak_ptr<QueryRun> weak = weak_from_this();
		for (auto &input : head_inputs_) {
			input->AllowRestart([weak]() {
				if (auto run = weak.lock()) {
					run->StopKeeping();
				}
			});
		}
	}
	// A copy: a worker that is lost at once begins the next attempt meanwhile.
	Launch(Attempt(attempt_));
}

void QueryRun::Launch(const Attempt &attempt) {
	std::vector<SessionOutput> outputs;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (attempt.Key() != attempt_.Key()) {
			return;
		}
		outputs = session_outputs_;
	}
	for (auto &output : outputs) {
		node_.Exchange().AddOutput({id_, output.stage, 0, attempt.Key().attempt}, output.output, output.buffer,
								   options_.compression);
	}
	for (auto &worker : attempt.UsedWorkers()) {
		SendMessage(*node_.LinkTo(worker), attempt.StartMessage(worker, options_));
	}
	bool failed;
	bool finished;
	uint32_t current;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		failed = failed_;
		finished = finished_;
		current = attempt_.Key().attempt;
	}
	// The workers that got their tasks after the attempt had ended do not know that yet.
	if (failed || finished) {
		EndOnWorkers();
	} else if (current != attempt.Key().attempt) {
		EndOnWorkers(attempt.Key().attempt);
		node_.Exchange().DropAttempt(attempt.Key());
	}
	if (finished) {
		DropAttempts();
	}
}

void QueryRun::Lose(const string &worker, const ErrorData &error) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto &workers = attempt_.Workers();
		if (failed_ || finished_ || std::find(workers.begin(), workers.end(), worker) == workers.end()) {
			return;
		}
		lost_workers_.insert(worker);
		loss_ = error;
		if (restarting_) {
			lost_again_ = true;
			return;
		}
		restarting_ = true;
	}
	while (true) {
		auto obstacle = options_.retry == Retry::QUERY ? StartAgain() : string();
		if (options_.retry == Retry::NONE || !obstacle.empty()) {
			ErrorData loss;
			{
				std::lock_guard<std::mutex> guard(mutex_);
				loss = loss_;
			}
			Fail(obstacle.empty() ? loss : WithPlace(loss, "not tried again: " + obstacle));
		}
		std::lock_guard<std::mutex> guard(mutex_);
		if (!lost_again_ || failed_ || finished_) {
			restarting_ = false;
			return;
		}
		lost_again_ = false;
	}
}

string QueryRun::StartAgain() {
	std::vector<SessionOutput> outputs;
	std::optional<Attempt> next;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto workers = attempt_.Workers();
		std::erase_if(workers, [&](auto &worker) { return lost_workers_.count(worker) > 0; });
		if (workers.size() == attempt_.Workers().size()) {
			return string();
		}
		if (workers.empty()) {
			return "no other worker is left";
		}
		auto number = attempt_.Key().attempt + 1;
		if (number == MAX_ATTEMPTS) {
			return "it was tried " + std::to_string(MAX_ATTEMPTS) + " times";
		}
		next.emplace(plan_, AttemptKey{id_, number}, std::move(workers));
		outputs = session_outputs_;
	}
	for (auto &input : head_inputs_) {
		if (!input->Rewind()) {
			return "the session has already read rows of the result";
		}
	}
	for (auto &output : outputs) {
		output.buffer = output.buffer->Replay();
		if (!output.buffer) {
			return "the session's own rows, which the tasks read, are more than skein_buffer_bytes keeps";
		}
	}
	uint32_t old;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		old = attempt_.Key().attempt;
		attempt_ = *next;
		session_outputs_ = outputs;
		tasks_left_ = attempt_.TaskCount();
		progress_->Begin(tasks_left_);
		started_tasks_.clear();
		started_stages_.clear();
		workers_with_slots_.clear();
		consequence_ = ErrorData();
		units_ = UnitBroker(*plan_);
		stats_ = QueryStats();
		for (auto &worker : attempt_.UsedWorkers()) {
			running_.emplace(attempt_.Key().attempt, worker);
		}
	}
	EndOnWorkers(old);
	node_.Exchange().DropAttempt({id_, old});
	try {
		Launch(*next);
		for (size_t i = 0; i < head_inputs_.size(); i++) {
			head_inputs_[i]->Restart(next->ProducersOf(plan_->head_inputs[i]));
		}
	} catch (std::exception &ex) {
		return ErrorData(ex).RawMessage();
	}
	return string();
}

void QueryRun::StopKeeping() {
	std::vector<SessionOutput> outputs;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		outputs = session_outputs_;
	}
	for (auto &output : outputs) {
		output.buffer->StopKeeping();
	}
}

void QueryRun::Fail(const ErrorData &error) {
	std::vector<SessionOutput> outputs;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (failed_ || finished_) {
			return;
		}
		failed_ = true;
		outputs = session_outputs_;
	}
	for (auto &input : head_inputs_) {
		input->Fail(error, false);
	}
	for (auto &output : outputs) {
		output.buffer->Abort(error);
	}
	EndOnWorkers();
}

void QueryRun::Finish() {
	bool end;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (finished_) {
			return;
		}
		finished_ = true;
		end = !failed_;
	}
	for (auto &input : head_inputs_) {
		input->Close();
	}
	DropAttempts();
	if (end) {
		EndOnWorkers();
	}
	on_finish_();
}

void QueryRun::DropAttempts() {
	auto last = Retries();
	for (uint32_t attempt = 0; attempt <= last; attempt++) {
		node_.Exchange().DropAttempt({id_, attempt});
	}
}

void QueryRun::EndOnWorkers(std::optional<uint32_t> last) {
	std::set<std::pair<uint32_t, string>> ending;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ending = running_;
	}
	for (auto &[attempt, worker] : ending) {
		if (last && attempt > *last) {
			continue;
		}
		wire::Message message;
		message.mutable_end_query()->set_query(id_);
		message.mutable_end_query()->set_attempt(attempt);
		try {
			SendMessage(*node_.LinkTo(worker), message);
		} catch (std::exception &) {
			// The address is malformed or this process is stopping: nothing of the query can be running there.
			OnQueryEnded(worker, QueryEndedOf({id_, attempt}));
		}
	}
}

bool QueryRun::WaitEnded(std::chrono::milliseconds timeout) {
	std::unique_lock<std::mutex> guard(mutex_);
	return ended_.wait_for(guard, timeout, [&]() { return running_.empty(); });
}

bool QueryRun::WaitTasks(std::chrono::milliseconds timeout) {
	std::unique_lock<std::mutex> guard(mutex_);
	return ended_.wait_for(guard, timeout, [&]() { return tasks_left_ == 0; });
}

QueryStats QueryRun::Stats() {
	std::lock_guard<std::mutex> guard(mutex_);
	auto result = stats_;
	result.started_at = started_at_;
	for (auto &output : session_outputs_) {
		OutputReport report{output.buffer->AppendedRows(), output.buffer->AppendedBytes(), output.buffer->LinkBytes(),
							output.buffer->AppendedPages()};
		result.bytes_exchanged += report.bytes;
		result.rows_exchanged += report.rows;
		auto &stages = result.session_stages;
		if (stages.empty() || stages.back().stage != output.stage) {
			stages.emplace_back();
			stages.back().stage = output.stage;
		}
		stages.back().outputs.push_back(report);
	}
	return result;
}

uint32_t QueryRun::Retries() {
	std::lock_guard<std::mutex> guard(mutex_);
	return attempt_.Key().attempt;
}

bool QueryRun::HasFailed() {
	std::lock_guard<std::mutex> guard(mutex_);
	return failed_;
}

bool QueryRun::IsRunning() {
	std::lock_guard<std::mutex> guard(mutex_);
	return !failed_ && !finished_;
}

void QueryRun::OnTasksStarted(const string &worker, const wire::TasksStarted &started) {
	std::set<string> listening;
	wire::Message message;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (started.attempt() != attempt_.Key().attempt || failed_ || finished_) {
			return;
		}
		auto news = started.has_slots() && workers_with_slots_.insert(worker).second;
		for (auto &task : started.tasks()) {
			auto &tasks = started_tasks_[task.stage()];
			tasks.insert(task.task());
			if (tasks.size() == plan_->stages[task.stage() - 1].tasks) {
				news = started_stages_.insert(task.stage()).second || news;
			}
		}
		if (!news) {
			return;
		}
		listening = workers_with_slots_;
		auto &stages = *message.mutable_stages_started();
		stages.set_query(id_);
		stages.set_attempt(started.attempt());
		for (auto stage : started_stages_) {
			stages.add_stages(stage);
		}
	}
	for (auto &listener : listening) {
		try {
			SendMessage(*node_.LinkTo(listener), message);
		} catch (std::exception &) {
			// This process is stopping, and with it the query.
		}
	}
}

void QueryRun::OnUnitsWanted(const wire::WantUnits &want) {
	auto &leaf = want.leaf();
	UnitPace pace;
	if (want.has_micros_per_unit()) {
		pace = std::chrono::microseconds(want.micros_per_unit());
	}
	MoveUnits(leaf, [&]() { return units_.OnWanted({leaf.stage(), leaf.leaf()}, leaf.task(), pace); });
}

void QueryRun::OnUnitsReleased(const wire::UnitsReleased &released) {
	auto &leaf = released.leaf();
	Parcel parcel{released.parcel().units(), released.parcel().slice()};
	MoveUnits(leaf, [&]() {
		return units_.OnReleased({leaf.stage(), leaf.leaf()}, leaf.task(), released.left(), std::move(parcel));
	});
}

void QueryRun::MoveUnits(const wire::LeafId &leaf, const std::function<UnitBroker::Orders()> &decide) {
	std::optional<Attempt> attempt;
	UnitBroker::Orders orders;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (leaf.attempt() != attempt_.Key().attempt || failed_ || finished_) {
			// Its tasks are being ended.
			return;
		}
		orders = decide();
		attempt = attempt_;
	}
	SendOrders(node_, *attempt, orders);
}

void QueryRun::OnTaskEnded(const string &worker, const wire::TaskEnded &ended) {
	ErrorData error;
	string lost;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (ended.attempt() != attempt_.Key().attempt) {
			return;
		}
		tasks_left_ -= tasks_left_ > 0 ? 1 : 0;
		units_.OnTaskEnded(ended.stage(), ended.task());
		progress_->TaskEnded();
		ended_.notify_all();
		stats_.bytes_exchanged += ended.output_bytes();
		stats_.rows_exchanged += ended.output_rows();
		stats_.tasks.push_back(DecodeReport(worker, ended));
		auto age = std::chrono::steady_clock::now() - started_at_;
		stats_.tasks.back().ended_micros =
			static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(age).count());
		if (ended.has_error()) {
			TaskKey key{id_, ended.stage(), ended.task(), ended.attempt()};
			auto placed = WithPlace(DecodeError(ended.error()), "worker " + worker + ", " + key.ToString());
			lost = LostWorkerOf(placed);
			auto &workers = attempt_.Workers();
			if (std::find(workers.begin(), workers.end(), lost) == workers.end()) {
				lost.clear();
			}
			if (!ended.error().consequence()) {
				error = std::move(placed);
			} else if (!consequence_.HasError()) {
				consequence_ = std::move(placed);
			}
		}
		if (!error.HasError() && tasks_left_ == 0 && consequence_.HasError()) {
			error = consequence_;
		}
	}
	if (error.HasError() && !lost.empty()) {
		Lose(lost, error);
	} else if (error.HasError()) {
		Fail(error);
	}
}

void QueryRun::OnQueryEnded(const string &worker, const wire::QueryEnded &ended) {
	auto attempt = ended.attempt();
	bool current;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &sent : ended.sent()) {
			for (auto &task : stats_.tasks) {
				if (attempt == attempt_.Key().attempt && task.stage == sent.stage() && task.task == sent.task()) {
					for (int i = 0; i < sent.output_bytes_size() && i < static_cast<int>(task.outputs.size()); i++) {
						task.outputs[static_cast<size_t>(i)].link_bytes = sent.output_bytes(i);
					}
				}
			}
		}
		if (running_.erase({attempt, worker}) == 0) {
			return;
		}
		current = attempt == attempt_.Key().attempt;
		ended_.notify_all();
	}
	if (current) {
		// Does nothing unless the worker has ended the query of its own accord.
		Lose(worker, LostWorkerError(worker, "it has been stopped", true));
	}
}

void QueryRun::OnWorkerLost(const string &worker, const string &reason, bool was_open) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		lost_workers_.insert(worker);
		if (std::erase_if(running_, [&](auto &entry) { return entry.second == worker; }) == 0) {
			return;
		}
		ended_.notify_all();
	}
	Lose(worker, LostWorkerError(worker, reason, was_open));
}

} // namespace skein
