#include "coordinator/query_run.hpp"

#include "exchange/messages.hpp"
#include "wire/messages/error_codec.hpp"

namespace skein {

using namespace duckdb;

QueryRun::QueryRun(Node &node, DatabaseInstance &db, std::shared_ptr<const DistributedPlan> plan, std::string id,
				   std::vector<std::string> workers, RunOptions options, std::function<void()> on_finish)
	: node_(node), db_(db), plan_(std::move(plan)), id_(std::move(id)), workers_(std::move(workers)), options_(options),
	  on_finish_(std::move(on_finish)), tasks_left_(0) {
	for (auto &stage : plan_->stages) {
		if (stage.in_session) {
			continue;
		}
		tasks_left_ += stage.tasks;
		for (uint32_t task = 0; task < stage.tasks; task++) {
			used_workers_.insert(WorkerOf(stage.id, task));
		}
	}
	running_workers_ = used_workers_;
	for (auto &input : plan_->head_inputs) {
		std::vector<Producer> producers;
		for (uint32_t task = 0; task < plan_->stages[input.stage - 1].tasks; task++) {
			producers.push_back({WorkerOf(input.stage, task), {{id_, input.stage, task, 0}, input.output, 0}});
		}
		head_inputs_.push_back(std::make_shared<ExchangeInput>(
			node_.Exchange(), std::move(producers), CreditBytes(options_.page_bytes), OnConsequence::LEAVE_TO_OWNER));
	}
}

string QueryRun::WorkerOf(uint32_t stage, uint32_t task) const {
	if (plan_->stages[stage - 1].in_session) {
		return COORDINATOR_ADDRESS;
	}
	// Stages of one task go round the workers; otherwise equal task numbers meet on one worker.
	auto first = plan_->stages[stage - 1].tasks == 1 ? stage : 0;
	return workers_[(first + task) % workers_.size()];
}

void QueryRun::MakeSessionStages() {
	for (auto &stage : plan_->stages) {
		if (!stage.in_session) {
			continue;
		}
		auto channels = make_shared_ptr<TaskChannels>();
		channels->page_bytes = options_.page_bytes;
		TaskKey key{id_, stage.id, 0, 0};
		for (uint32_t output = 0; output < stage.outputs.size(); output++) {
			auto buffer = std::make_shared<OutputBuffer>(stage.outputs[output].partitions, OutputBuffer::UNBOUNDED);
			node_.Exchange().AddOutput(key, output, buffer);
			channels->outputs.push_back(std::move(buffer));
		}
		session_channels_[stage.id] = std::move(channels);
	}
}

wire::Message QueryRun::StartMessage(const string &worker) const {
	wire::Message message;
	auto &start = *message.mutable_start_tasks();
	start.set_query(id_);
	start.set_page_bytes(options_.page_bytes);
	start.set_buffer_bytes(options_.buffer_bytes);
	start.set_worker_name(worker);
	for (auto &setting : plan_->settings) {
		auto &target = *start.add_settings();
		target.set_name(setting.first);
		target.set_value(setting.second);
	}
	for (auto &stage : plan_->stages) {
		for (uint32_t number = 0; !stage.in_session && number < stage.tasks; number++) {
			if (WorkerOf(stage.id, number) != worker) {
				continue;
			}
			auto &task = *start.add_tasks();
			task.set_stage(stage.id);
			task.set_task(number);
			task.set_plan(stage.task_plans[number]);
			for (auto &input : stage.inputs) {
				auto &producers = *task.add_inputs();
				producers.set_stage(input.stage);
				producers.set_output(input.output);
				for (uint32_t producer = 0; producer < plan_->stages[input.stage - 1].tasks; producer++) {
					producers.add_addresses(WorkerOf(input.stage, producer));
				}
			}
			for (auto &output : stage.outputs) {
				task.add_output_partitions(output.partitions);
				task.add_output_unbounded(output.unbounded);
			}
		}
	}
	return message;
}

void QueryRun::Start() {
	MakeSessionStages();
	for (auto &worker : used_workers_) {
		SendMessage(*node_.LinkTo(worker), StartMessage(worker));
	}
	bool ended;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ended = failed_ || finished_;
	}
	if (ended) {
		// The workers that got their tasks after the query had ended do not know that yet.
		EndOnWorkers();
	}
}

void QueryRun::Fail(const ErrorData &error) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (failed_ || finished_) {
			return;
		}
		failed_ = true;
	}
	for (auto &input : head_inputs_) {
		input->Fail(error, false);
	}
	for (auto &channels : session_channels_) {
		for (auto &output : channels.second->outputs) {
			output->Abort(error);
		}
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
	node_.Exchange().DropQuery(id_);
	if (end) {
		EndOnWorkers();
	}
	on_finish_();
}

void QueryRun::EndOnWorkers() {
	std::set<string> workers;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		workers = running_workers_;
	}
	wire::Message message;
	message.mutable_end_query()->set_query(id_);
	for (auto &worker : workers) {
		try {
			SendMessage(*node_.LinkTo(worker), message);
		} catch (std::exception &) {
			// The address is malformed or this process is stopping: nothing of the query can be running there.
			OnQueryEnded(worker);
		}
	}
}

bool QueryRun::WaitEnded(std::chrono::milliseconds timeout) {
	std::unique_lock<std::mutex> guard(mutex_);
	return ended_.wait_for(guard, timeout, [&]() { return running_workers_.empty(); });
}

bool QueryRun::WaitTasks(std::chrono::milliseconds timeout) {
	std::unique_lock<std::mutex> guard(mutex_);
	return ended_.wait_for(guard, timeout, [&]() { return tasks_left_ == 0; });
}

QueryStats QueryRun::Stats() {
	std::lock_guard<std::mutex> guard(mutex_);
	auto result = stats_;
	for (auto &channels : session_channels_) {
		for (auto &output : channels.second->outputs) {
			result.bytes_exchanged += output->AppendedBytes();
			result.rows_exchanged += output->AppendedRows();
		}
	}
	return result;
}

void QueryRun::OnTaskEnded(const string &worker, const wire::TaskEnded &ended) {
	ErrorData error;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		tasks_left_ -= tasks_left_ > 0 ? 1 : 0;
		ended_.notify_all();
		stats_.bytes_exchanged += ended.output_bytes();
		stats_.rows_exchanged += ended.output_rows();
		stats_.tasks.push_back(
			{ended.stage(), ended.task(), worker, ended.output_rows(), ended.output_bytes(), ended.wall_micros()});
		if (ended.has_error()) {
			TaskKey key{id_, ended.stage(), ended.task(), ended.attempt()};
			auto placed = WithPlace(DecodeError(ended.error()), "worker " + worker + ", " + key.ToString());
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
	if (error.HasError()) {
		Fail(error);
	}
}

void QueryRun::OnQueryEnded(const string &worker) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (running_workers_.erase(worker) == 0) {
			return;
		}
		ended_.notify_all();
	}
	// Does nothing unless the worker has ended the query of its own accord.
	Fail(ErrorData(ExceptionType::IO, "lost worker " + worker + ": it has been stopped"));
}

void QueryRun::OnWorkerLost(const string &worker, const string &reason, bool was_open) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (running_workers_.erase(worker) == 0) {
			return;
		}
		ended_.notify_all();
	}
	auto why = reason.empty() ? string("it closed the connection") : reason;
	Fail(ErrorData(ExceptionType::IO, (was_open ? "lost worker " : "cannot reach worker ") + worker + ": " + why));
}

} // namespace skein
