#include "extension/trace_exporter.hpp"

#include "duckdb/logging/logger.hpp"

#include <nlohmann/json.hpp>

namespace skein {

using namespace duckdb;

namespace {

//! How long an export waits for workers that have not yet said what they did, and for a collector: neither longer than
//! closing may take.
constexpr auto REPORT_TIMEOUT = TraceExporter::CLOSE_TIMEOUT;
constexpr auto SEND_TIMEOUT = TraceExporter::CLOSE_TIMEOUT;

} // namespace

TraceExporter::~TraceExporter() {
	Stop();
}

void TraceExporter::Export(EndedQuery query) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (stopping_) {
			return;
		}
		if (waiting_.size() < MAX_WAITING) {
			waiting_.push_back(std::move(query));
			if (!thread_.joinable()) {
				thread_ = std::thread([this]() { Run(); });
			}
			changed_.notify_all();
			return;
		}
	}
	Warn("a trace was dropped: " + std::to_string(MAX_WAITING) + " wait to be sent");
}

void TraceExporter::Stop() {
	std::thread thread;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		stopping_ = true;
		close_by_ = std::chrono::steady_clock::now() + CLOSE_TIMEOUT;
		thread.swap(thread_);
	}
	changed_.notify_all();
	if (thread.joinable()) {
		thread.join();
	}
}

void TraceExporter::Run() {
	std::unique_lock<std::mutex> guard(mutex_);
	while (true) {
		changed_.wait(guard, [&]() { return stopping_ || !waiting_.empty(); });
		if (waiting_.empty()) {
			return;
		}
		auto query = std::move(waiting_.front());
		waiting_.pop_front();
		guard.unlock();
		auto taken = Send(query);
		guard.lock();
		if (stopping_ && !taken && !waiting_.empty()) {
			auto dropped = waiting_.size();
			waiting_.clear();
			guard.unlock();
			Warn(std::to_string(dropped) + " traces were dropped: the database is being closed");
			guard.lock();
		}
	}
}

std::chrono::milliseconds TraceExporter::TimeLeft(std::chrono::milliseconds timeout) {
	std::lock_guard<std::mutex> guard(mutex_);
	if (!stopping_) {
		return timeout;
	}
	auto left = std::chrono::ceil<std::chrono::milliseconds>(close_by_ - std::chrono::steady_clock::now());
	if (left.count() <= 0) {
		throw InvalidInputException("the database is being closed");
	}
	return std::min(left, timeout);
}

bool TraceExporter::Send(const EndedQuery &query) {
	std::optional<string> problem;
	auto &endpoint = query.query.trace.endpoint;
	try {
		if (query.query.run) {
			query.query.run->WaitEnded(TimeLeft(REPORT_TIMEOUT));
		}
		auto url = HttpUrl::Parse(endpoint, "/v1/traces");
		auto text = TraceJson(query, ids_).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
		problem = PostJson(url, text, TimeLeft(SEND_TIMEOUT));
	} catch (std::exception &ex) {
		problem = ErrorData(ex).RawMessage();
	}
	if (problem) {
		Warn("a trace was not taken by " + endpoint + ": " + *problem);
	}
	return !problem;
}

void TraceExporter::Warn(const string &message) {
	DUCKDB_LOG_WARNING(db_, "skein: %s", message);
}

} // namespace skein
