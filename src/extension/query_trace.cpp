#include "duckdb/common/types/uuid.hpp"
#include "extension/trace_exporter.hpp"
#include "skein/version.hpp"

#include <nlohmann/json.hpp>

namespace skein {

using namespace duckdb;
using Json = nlohmann::ordered_json;

namespace {

//! OpenTelemetry's numbers.
constexpr int KIND_INTERNAL = 1;
constexpr int STATUS_ERROR = 2;

string Hex(uint64_t number) {
	static constexpr const char *DIGITS = "0123456789abcdef";
	string result;
	for (int shift = 60; shift >= 0; shift -= 4) {
		result += DIGITS[(number >> shift) & 15];
	}
	return result;
}

//! A list of keys with typed values.
class Attributes {
public:
	Attributes &Add(const char *key, const string &value) {
		return Add(key, "stringValue", value);
	}
	Attributes &Add(const char *key, const char *value) {
		return Add(key, "stringValue", value);
	}
	Attributes &Add(const char *key, bool value) {
		return Add(key, "boolValue", value);
	}
	Attributes &Add(const char *key, double value) {
		return Add(key, "doubleValue", value);
	}
	Attributes &Add(const char *key, uint64_t value) {
		// As JSON has it in OTLP.
		return Add(key, "intValue", std::to_string(value));
	}
	Json Take() {
		return std::move(list_);
	}

private:
	Attributes &Add(const char *key, const char *type, const Json &value) {
		list_.push_back({{"key", key}, {"value", {{type, value}}}});
		return *this;
	}

	Json list_ = Json::array();
};

//! From when to when, microseconds since the start of the execution.
struct TimeSpan {
	uint64_t from;
	uint64_t to;
};

class TraceWriter {
public:
	TraceWriter(const EndedQuery &ended, SpanIds &ids) : ended_(ended), ids_(ids) {
		auto &query = ended.query;
		if (query.run) {
			stats_ = query.run->Stats();
		} else {
			stats_.started_at = query.started_at;
		}
		offset_ =
			std::chrono::system_clock::now().time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
		ReadParent();
	}

	Json Write() {
		auto query_span = ids_.NextSpan();
		AddQuery(query_span);
		if (ended_.query.plan && ended_.query.run) {
			for (auto &stage : ended_.query.plan->stages) {
				AddStage(stage, query_span);
			}
		}
		Json resource;
		resource["attributes"] = Attributes().Add("service.name", "skein").Add("service.version", SKEIN_VERSION).Take();
		Json scope;
		scope["scope"] = {{"name", "skein"}, {"version", SKEIN_VERSION}};
		scope["spans"] = std::move(spans_);
		Json resource_spans;
		resource_spans["resource"] = std::move(resource);
		resource_spans["scopeSpans"] = Json::array({std::move(scope)});
		Json result;
		result["resourceSpans"] = Json::array({std::move(resource_spans)});
		return result;
	}

private:
	//! A trace of its own has the query's id, by which skein_queries() and logs name it.
	void ReadParent() {
		auto &parent = ended_.query.trace.parent;
		if (!parent.empty()) {
			trace_id_ = parent.substr(3, 32);
			parent_span_ = parent.substr(36, 16);
		} else if (ended_.query.run) {
			trace_id_ = StringUtil::Replace(ended_.query.run->Id(), "-", "");
		} else {
			trace_id_ = ids_.NextTrace();
		}
	}

	string Nanos(std::chrono::steady_clock::time_point time) const {
		auto since = time.time_since_epoch() + offset_;
		return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
	}
	string Nanos(uint64_t micros) const {
		return Nanos(stats_.started_at + std::chrono::microseconds(micros));
	}

	//! The span's status and attributes are still to be set.
	Json &AddSpan(const string &name, const string &id, const string &parent, const string &start, const string &end) {
		Json span;
		span["traceId"] = trace_id_;
		span["spanId"] = id;
		if (!parent.empty()) {
			span["parentSpanId"] = parent;
		}
		span["name"] = name;
		span["kind"] = KIND_INTERNAL;
		span["startTimeUnixNano"] = start;
		span["endTimeUnixNano"] = end;
		spans_.push_back(std::move(span));
		return spans_.back();
	}

	void AddQuery(const string &id) {
		auto &query = ended_.query;
		auto &span = AddSpan("query", id, parent_span_, Nanos(query.started_at), Nanos(ended_.ended_at));
		Attributes attributes;
		attributes.Add("db.system.name", "duckdb").Add("db.query.text", query.sql);
		attributes.Add("skein.distributed", query.distributed);
		if (!query.reason.empty()) {
			attributes.Add("skein.reason", query.reason);
		}
		attributes.Add("skein.planning_ms", query.planning_ms);
		if (query.run) {
			attributes.Add("skein.query", query.run->Id());
			attributes.Add("skein.workers", uint64_t(query.workers));
			attributes.Add("skein.stages", uint64_t(query.plan->stages.size()));
			attributes.Add("skein.tasks", uint64_t(query.plan->TaskCount()));
			attributes.Add("skein.retries", uint64_t(query.run->Retries()));
			attributes.Add("skein.exchanged_rows", stats_.rows_exchanged);
			attributes.Add("skein.exchanged_bytes", stats_.bytes_exchanged);
		}
		span["attributes"] = attributes.Take();
		if (!ended_.error.empty()) {
			span["status"] = {{"code", STATUS_ERROR}, {"message", ended_.error}};
		}
	}

	//! When its tasks ran; of a stage in the session, or without tasks that have reported, when the query ran.
	TimeSpan SpanOf(const StagePlan &stage) const {
		auto total = ended_.ended_at - stats_.started_at;
		TimeSpan whole{0, static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(total).count())};
		std::optional<TimeSpan> result;
		for (auto &task : stats_.tasks) {
			if (task.stage == stage.id) {
				TimeSpan own{task.StartedMicros(), task.ended_micros};
				result = result ? TimeSpan{std::min(result->from, own.from), std::max(result->to, own.to)} : own;
			}
		}
		return result.value_or(whole);
	}

	void AddStage(const StagePlan &stage, const string &query_span) {
		auto id = ids_.NextSpan();
		auto time = SpanOf(stage);
		auto name = "stage " + std::to_string(stage.id);
		auto &span = AddSpan(name, id, query_span, Nanos(time.from), Nanos(time.to));
		OutputReport sent;
		for (auto *reports : {&stats_.tasks, &stats_.session_stages}) {
			for (auto &task : *reports) {
				if (task.stage == stage.id) {
					sent.Add(task.Sent());
				}
			}
		}
		Attributes attributes;
		attributes.Add("skein.stage", uint64_t(stage.id)).Add("skein.tasks", uint64_t(stage.tasks));
		attributes.Add("skein.in_session", stage.in_session);
		span["attributes"] = AddSent(sent, attributes).Take();
		for (auto &task : stats_.tasks) {
			if (task.stage == stage.id) {
				AddTask(task, id);
			}
		}
	}

	void AddTask(const TaskReport &task, const string &stage_span) {
		auto name = StringUtil::Format("stage %u, task %u", task.stage, task.task);
		auto &span = AddSpan(name, ids_.NextSpan(), stage_span, Nanos(task.StartedMicros()), Nanos(task.ended_micros));
		Attributes attributes;
		attributes.Add("skein.stage", uint64_t(task.stage)).Add("skein.task", uint64_t(task.task));
		attributes.Add("skein.attempt", uint64_t(ended_.query.run->Retries()));
		attributes.Add("skein.worker", task.worker).Add("skein.state", StateName(task.state));
		attributes.Add("skein.queue_ms", static_cast<double>(task.queue_micros) / 1000);
		span["attributes"] = AddSent(task.Sent(), attributes).Take();
		if (task.state == TaskState::FAILED) {
			span["status"] = {{"code", STATUS_ERROR}};
		}
	}

	static Attributes &AddSent(const OutputReport &sent, Attributes &attributes) {
		return attributes.Add("skein.sent_rows", sent.rows)
			.Add("skein.sent_bytes", sent.bytes)
			.Add("skein.link_bytes", sent.link_bytes);
	}

	const EndedQuery &ended_;
	SpanIds &ids_;
	QueryStats stats_;
	//! From the steady clock to the time of day.
	std::chrono::nanoseconds offset_;
	string trace_id_;
	string parent_span_;
	Json spans_ = Json::array();
};

} // namespace

string SpanIds::NextSpan() {
	uint64_t number = 0;
	while (number == 0) {
		number = random_();
	}
	return Hex(number);
}

string SpanIds::NextTrace() {
	return NextSpan() + NextSpan();
}

Json TraceJson(const EndedQuery &ended, SpanIds &ids) {
	return TraceWriter(ended, ids).Write();
}

} // namespace skein
