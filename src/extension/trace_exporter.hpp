#pragma once

#include "engine/http_post.hpp"
#include "extension/session.hpp"

#include <nlohmann/json_fwd.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

namespace skein {

//! A query that is over, to be traced.
struct EndedQuery {
	LastQuery query;
	std::chrono::steady_clock::time_point ended_at;
	//! Empty: it did not fail.
	std::string error;
};

//! The 16 or 32 hexadecimal digits that OpenTelemetry wants, never all 0. Not thread-safe.
class SpanIds {
public:
	std::string NextSpan();
	std::string NextTrace();

private:
	std::mt19937_64 random_{std::random_device{}()};
};

//! A query as OpenTelemetry's spans, as OTLP writes them in JSON: one of the query, below it one of each stage, below
//! that one of each task. Times are those of this process's clock: a task ends when its end is heard of.
nlohmann::ordered_json TraceJson(const EndedQuery &ended, SpanIds &ids);

//! Sends queries that are over to collectors, one after the other, by OTLP over HTTP in JSON.
//!
//! Owned by SkeinInstance. Thread-safe. Its thread starts with the first query. Who hands in a query never waits: at
//! most MAX_WAITING are kept, what comes then is dropped and logged, and so is what a collector does not take.
class TraceExporter {
public:
	static constexpr size_t MAX_WAITING = 256;
	static constexpr std::chrono::seconds CLOSE_TIMEOUT{2};

	explicit TraceExporter(duckdb::DatabaseInstance &db) : db_(db) {
	}
	~TraceExporter();

	void Export(EndedQuery query);
	//! Sends what waits, until a collector does not take it or CLOSE_TIMEOUT is over. Idempotent.
	void Stop();

private:
	void Run();
	//! The time that is left for a step that may take `timeout`; throws when there is none.
	std::chrono::milliseconds TimeLeft(std::chrono::milliseconds timeout);
	//! Returns whether it was taken.
	bool Send(const EndedQuery &query);
	void Warn(const std::string &message);

	duckdb::DatabaseInstance &db_;
	SpanIds ids_;
	std::mutex mutex_;
	std::condition_variable changed_;
	std::deque<EndedQuery> waiting_;
	bool stopping_ = false;
	//! When the thread must have ended; only while stopping.
	std::chrono::steady_clock::time_point close_by_;
	std::thread thread_;
};

} // namespace skein
