#include "coordinator/coordinator.hpp"

#include "duckdb/common/types/uuid.hpp"
#include "wire/messages/status_codec.hpp"

namespace skein {

using namespace duckdb;

namespace {
//! As often as Executor::WaitForTask returns to look for work.
constexpr std::chrono::milliseconds WATCH_INTERVAL{20};

ErrorData CancelledError() {
	return ErrorData(ExceptionType::INTERRUPT, "cancelled by skein_cancel()");
}
} // namespace

Coordinator::Coordinator(Transport &transport, LinkOptions options)
	: node_(transport, COORDINATOR_ADDRESS, *this, options), watcher_([this]() { Watch(); }) {
}

Coordinator::~Coordinator() {
	Stop();
}

void Coordinator::Stop() {
	std::vector<std::shared_ptr<QueryRun>> left;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		stopping_ = true;
		for (auto &entry : runs_) {
			if (auto run = entry.second.lock()) {
				left.push_back(std::move(run));
			}
		}
	}
	changed_.notify_all();
	for (auto &run : left) {
		run->Fail(ErrorData(ExceptionType::INTERRUPT, "Interrupted!"));
		run->Finish();
	}
	node_.Stop();
	if (watcher_.joinable()) {
		watcher_.join();
	}
}

std::shared_ptr<QueryRun> Coordinator::Run(ClientContext &context, std::shared_ptr<const DistributedPlan> plan,
										   std::vector<string> workers, RunOptions options,
										   std::chrono::milliseconds timeout) {
	auto id = UUID::ToString(UUID::GenerateRandomUUID());
	auto run = std::make_shared<QueryRun>(node_, *context.db, std::move(plan), id, std::move(workers), options,
										  [this, id]() { Forget(id); });
	auto deadline = timeout.count() == 0 ? std::chrono::steady_clock::time_point::max()
										 : std::chrono::steady_clock::now() + timeout;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		std::erase_if(runs_, [](auto &entry) { return entry.second.expired(); });
		runs_[id] = run;
		watched_[id] = Watched{&context, run, deadline};
	}
	changed_.notify_all();
	try {
		run->Start();
	} catch (...) {
		run->Finish();
		throw;
	}
	return run;
}

void Coordinator::Forget(const string &query) {
	Watched ended;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto entry = watched_.find(query);
		if (entry != watched_.end()) {
			// Destroyed without the lock: it may be the last that holds the run.
			ended = std::move(entry->second);
			watched_.erase(entry);
		}
	}
}

void Coordinator::Watch() {
	std::unique_lock<std::mutex> guard(mutex_);
	while (!stopping_) {
		if (watched_.empty()) {
			changed_.wait(guard, [&]() { return stopping_ || !watched_.empty(); });
			continue;
		}
		changed_.wait_for(guard, WATCH_INTERVAL);
		std::vector<std::pair<std::shared_ptr<QueryRun>, ErrorData>> ending;
		auto now = std::chrono::steady_clock::now();
		for (auto &entry : watched_) {
			auto &watched = entry.second;
			if (watched.context->IsInterrupted()) {
				ending.emplace_back(watched.run, ErrorData(ExceptionType::INTERRUPT, "Interrupted!"));
			} else if (now >= watched.deadline) {
				ending.emplace_back(watched.run, ErrorData(ExceptionType::INTERRUPT,
														   "the query took longer than skein_query_timeout allows"));
			}
		}
		guard.unlock();
		for (auto &entry : ending) {
			entry.first->Fail(entry.second);
		}
		ending.clear();
		guard.lock();
	}
}

std::shared_ptr<QueryRun> Coordinator::Find(const string &query) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto entry = runs_.find(query);
	return entry == runs_.end() ? nullptr : entry->second.lock();
}

std::vector<ClusterWorker> Coordinator::AskStatus(const std::vector<string> &workers, std::chrono::milliseconds timeout,
												  const string &tasks_of) {
	auto inquiry = std::make_shared<StatusInquiry>(workers);
	wire::Message message;
	uint64_t request;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		request = ++last_request_;
		inquiries_[request] = inquiry;
	}
	message.mutable_ask_status()->set_request(request);
	message.mutable_ask_status()->set_tasks_of(tasks_of);
	std::vector<ClusterWorker> result;
	try {
		for (auto &worker : workers) {
			// If the link is lost, also right now, OnLinkLost() finds the inquiry.
			SendMessage(*node_.LinkTo(worker), message);
		}
		result = inquiry->Wait(timeout);
	} catch (...) {
		std::lock_guard<std::mutex> guard(mutex_);
		inquiries_.erase(request);
		throw;
	}
	std::lock_guard<std::mutex> guard(mutex_);
	inquiries_.erase(request);
	return result;
}

bool Coordinator::Cancel(const string &query, const std::vector<string> &workers, std::chrono::milliseconds timeout) {
	auto own = Find(query);
	if (own && own->IsRunning()) {
		own->Fail(CancelledError());
		return true;
	}
	wire::Message message;
	message.mutable_cancel_query()->set_query(query);
	for (auto &worker : AskStatus(workers, timeout)) {
		auto &queries = worker.status.running_queries;
		if (std::any_of(queries.begin(), queries.end(), [&](auto &it) { return it.query == query; })) {
			SendMessage(*node_.LinkTo(worker.address), message);
			return true;
		}
	}
	return false;
}

void Coordinator::OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) {
	if (message.has_task_ended()) {
		if (auto run = Find(message.task_ended().query())) {
			run->OnTaskEnded(link->PeerAddress(), message.task_ended());
		}
	} else if (message.has_tasks_started()) {
		if (auto run = Find(message.tasks_started().query())) {
			run->OnTasksStarted(link->PeerAddress(), message.tasks_started());
		}
	} else if (message.has_want_units()) {
		if (auto run = Find(message.want_units().leaf().query())) {
			run->OnUnitsWanted(message.want_units());
		}
	} else if (message.has_units_released()) {
		if (auto run = Find(message.units_released().leaf().query())) {
			run->OnUnitsReleased(message.units_released());
		}
	} else if (message.has_status()) {
		std::shared_ptr<StatusInquiry> inquiry;
		{
			std::lock_guard<std::mutex> guard(mutex_);
			auto entry = inquiries_.find(message.status().request());
			inquiry = entry == inquiries_.end() ? nullptr : entry->second;
		}
		if (inquiry) {
			inquiry->OnStatus(link->PeerAddress(), DecodeStatus(message.status()));
		}
	} else if (message.has_query_cancelled()) {
		if (auto run = Find(message.query_cancelled().query())) {
			run->Fail(CancelledError());
		}
	} else if (message.has_query_ended()) {
		if (auto run = Find(message.query_ended().query())) {
			run->OnQueryEnded(link->PeerAddress(), message.query_ended());
		}
	}
}

void Coordinator::OnLinkLost(Link &link, const string &reason, bool had_answered) {
	std::vector<std::shared_ptr<QueryRun>> runs;
	std::vector<std::shared_ptr<StatusInquiry>> inquiries;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &entry : inquiries_) {
			inquiries.push_back(entry.second);
		}
		for (auto &entry : runs_) {
			if (auto run = entry.second.lock()) {
				runs.push_back(std::move(run));
			}
		}
	}
	for (auto &run : runs) {
		run->OnWorkerLost(link.PeerAddress(), reason, had_answered);
	}
	for (auto &inquiry : inquiries) {
		inquiry->OnLost(link.PeerAddress(), reason);
	}
}

} // namespace skein
