#include "extension/trace_exporter.hpp"

#include "duckdb/logging/logger.hpp"

#include <nlohmann/json.hpp>

namespace skein {

using namespace duckdb;

namespace {

//! How long an export waits for workers that have not yet said what they did, and for a collector.
constexpr std::chrono::seconds REPORT_TIMEOUT{5};
constexpr std::chrono::seconds SEND_TIMEOUT{2};

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
		if (stopping_ && !taken) {
			waiting_.clear();
		}
	}
}

bool TraceExporter::Send(const EndedQuery &query) {
	std::optional<string> problem;
	auto &endpoint = query.query.trace.endpoint;
	try {
		if (query.query.run) {
			query.query.run->WaitEnded(REPORT_TIMEOUT);
		}
		auto url = HttpUrl::Parse(endpoint, "/v1/traces");
		auto text = TraceJson(query, ids_).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
		problem = PostJson(url, text, SEND_TIMEOUT);
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
