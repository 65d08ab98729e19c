#include "extension/settings.hpp"

#include "duckdb/common/operator/cast_operators.hpp"
#include "duckdb/common/string_util.hpp"
#include "engine/http_post.hpp"

#include <regex>

namespace skein {

using namespace duckdb;

namespace {

string ReadText(ClientContext &context, const char *name) {
	Value value;
	if (!context.TryGetCurrentSetting(name, value) || value.IsNull()) {
		return string();
	}
	return value.ToString();
}

uint64_t ReadNumber(ClientContext &context, const char *name) {
	Value value;
	return context.TryGetCurrentSetting(name, value) && !value.IsNull() ? value.GetValue<uint64_t>() : 0;
}

Mode ParseMode(const string &text) {
	auto lower = StringUtil::Lower(text);
	if (lower == "off") {
		return Mode::OFF;
	}
	if (lower == "auto") {
		return Mode::AUTO;
	}
	if (lower == "force") {
		return Mode::FORCE;
	}
	throw InvalidInputException("skein_mode is 'off', 'auto' or 'force', not '%s'", text);
}

JoinStrategy ParseJoin(const string &text) {
	auto lower = StringUtil::Lower(text);
	if (lower == "auto") {
		return JoinStrategy::AUTO;
	}
	if (lower == "broadcast") {
		return JoinStrategy::BROADCAST;
	}
	if (lower == "shuffle") {
		return JoinStrategy::SHUFFLE;
	}
	throw InvalidInputException("skein_join is 'auto', 'broadcast' or 'shuffle', not '%s'", text);
}

Retry ParseRetry(const string &text) {
	auto lower = StringUtil::Lower(text);
	if (lower == "none") {
		return Retry::NONE;
	}
	if (lower == "query") {
		return Retry::QUERY;
	}
	if (lower == "task") {
		throw NotImplementedException("skein_retry = 'task' is not there yet; 'query' runs all tasks again");
	}
	throw InvalidInputException("skein_retry is 'none' or 'query', not '%s'", text);
}

LinkCompression ParseCompression(const string &text) {
	auto lower = StringUtil::Lower(text);
	if (lower == "auto") {
		return LinkCompression::AUTO;
	}
	if (lower == "none") {
		return LinkCompression::NONE;
	}
	if (lower == "lz4") {
		return LinkCompression::LZ4;
	}
	if (lower == "zstd") {
		return LinkCompression::ZSTD;
	}
	throw InvalidInputException("skein_compression is 'none', 'lz4', 'zstd' or 'auto', not '%s'", text);
}

WorkStealing ParseWorkStealing(const string &text) {
	auto lower = StringUtil::Lower(text);
	if (lower == "off") {
		return WorkStealing::OFF;
	}
	if (lower == "auto") {
		return WorkStealing::AUTO;
	}
	if (lower == "force") {
		return WorkStealing::FORCE;
	}
	throw InvalidInputException("skein_work_stealing is 'off', 'auto' or 'force', not '%s'", text);
}

//! Limits beyond which a value can only be a mistake.
constexpr uint64_t MAX_PAGE_BYTES = uint64_t(1) << 30;
constexpr uint64_t MAX_BYTES = uint64_t(1) << 60;
constexpr uint64_t MAX_LOCAL_WORKERS = 1024;
constexpr uint64_t MAX_TASKS_OF_A_STAGE = 4096;
constexpr double MAX_SECONDS = 10.0 * 365 * 24 * 60 * 60;

uint64_t ParseBytes(const string &text) {
	uint64_t result = 0;
	if (!text.empty() && text.find_first_not_of("0123456789") == string::npos) {
		if (!TryCast::Operation(string_t(text), result)) {
			result = NumericLimits<uint64_t>::Maximum();
		}
	} else if (!StringUtil::StartsWith(text, "-")) {
		result = DBConfig::ParseMemoryLimit(text);
	}
	if (result == 0 || result > MAX_BYTES) {
		throw InvalidInputException("a number of bytes from 1 to 1 EiB is needed, not '%s'", text);
	}
	return result;
}

void CheckAtMost(const Value &value, uint64_t maximum) {
	if (!value.IsNull() && value.GetValue<uint64_t>() > maximum) {
		throw InvalidInputException("%llu is the most, not %s", maximum, value.ToString());
	}
}

//! A number of seconds, or an interval as SQL writes it.
std::chrono::milliseconds ParseDuration(const string &text) {
	double seconds;
	if (!TryCast::Operation(string_t(text), seconds)) {
		auto interval = Value(text).DefaultCastAs(LogicalType::INTERVAL).GetValue<interval_t>();
		seconds = static_cast<double>(Interval::GetMicro(interval)) / 1e6;
	}
	if (!(seconds >= 0 && seconds <= MAX_SECONDS)) {
		throw InvalidInputException("a length of time from 0 to 10 years is needed, not '%s'", text);
	}
	return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void CheckTraceEndpoint(ClientContext &context, SetScope scope, Value &value) {
	if (!value.IsNull() && !value.ToString().empty()) {
		HttpUrl::Parse(value.ToString(), "/");
	}
}
//! `00-TRACE-SPAN-FLAGS`, in small hexadecimal digits, neither of the ids all 0, nor the version ff.
void CheckTraceParent(ClientContext &context, SetScope scope, Value &value) {
	static const std::regex FORM("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
	auto text = value.IsNull() ? string() : value.ToString();
	if (!text.empty() && !std::regex_match(text, FORM)) {
		throw InvalidInputException("a traceparent like '00-<32 hex digits>-<16 hex digits>-01' is needed, not '%s'",
									text);
	}
}
//! How much longer each unit of a task takes, as in `1:20 ms`, or `5 ms, 1:20 ms` if that of all others takes longer,
//! too; nothing for nobody.
UnitDelays ParseUnitDelays(const string &text) {
	UnitDelays result;
	if (text.empty()) {
		return result;
	}
	auto comma = text.find(',');
	if (comma != string::npos) {
		result.of_each = ParseDuration(text.substr(0, comma));
	}
	auto slow = comma == string::npos ? text : text.substr(comma + 1);
	auto colon = slow.find(':');
	if (colon == string::npos || !TryCast::Operation(string_t(slow.substr(0, colon)), result.slow_task)) {
		throw InvalidInputException("a task and a length of time are needed, as in '1:20 ms', not '%s'", slow);
	}
	result.of_slow_task = ParseDuration(slow.substr(colon + 1));
	return result;
}

void CheckMode(ClientContext &context, SetScope scope, Value &value) {
	ParseMode(value.ToString());
}
void CheckJoin(ClientContext &context, SetScope scope, Value &value) {
	ParseJoin(value.ToString());
}
void CheckCompression(ClientContext &context, SetScope scope, Value &value) {
	ParseCompression(value.ToString());
}
void CheckRetry(ClientContext &context, SetScope scope, Value &value) {
	ParseRetry(value.ToString());
}
void CheckWorkStealing(ClientContext &context, SetScope scope, Value &value) {
	ParseWorkStealing(value.ToString());
}
void CheckUnitDelay(ClientContext &context, SetScope scope, Value &value) {
	ParseUnitDelays(value.ToString());
}
void CheckBytes(ClientContext &context, SetScope scope, Value &value) {
	ParseBytes(value.ToString());
}
void CheckPageBytes(ClientContext &context, SetScope scope, Value &value) {
	if (ParseBytes(value.ToString()) > MAX_PAGE_BYTES) {
		throw InvalidInputException("a page has at most 1 GiB, not '%s'", value.ToString());
	}
}
void CheckWorkers(ClientContext &context, SetScope scope, Value &value) {
	CheckAtMost(value, MAX_LOCAL_WORKERS);
}
void CheckMaxTasks(ClientContext &context, SetScope scope, Value &value) {
	CheckAtMost(value, MAX_TASKS_OF_A_STAGE);
}
void CheckDuration(ClientContext &context, SetScope scope, Value &value) {
	ParseDuration(value.ToString());
}

} // namespace

void RegisterSettings(DBConfig &config) {
	auto text = LogicalType::VARCHAR;
	config.AddExtensionOption("skein_mode",
							  "off; auto: distribute when it is right and likely to pay; force: whenever it is right",
							  text, Value("auto"), CheckMode);
	config.AddExtensionOption("skein_cluster", "The workers, as host:port,... or dns:///name:port; empty: no cluster",
							  text, Value(""));
	config.AddExtensionOption("skein_workers", "Workers inside the process, used when no cluster is set",
							  LogicalType::UBIGINT, Value::UBIGINT(0), CheckWorkers);
	config.AddExtensionOption("skein_max_tasks", "Most tasks of a stage; 0: one per worker", LogicalType::UBIGINT,
							  Value::UBIGINT(0), CheckMaxTasks);
	config.AddExtensionOption("skein_bytes_per_task", "A leaf asks for a task for so many bytes really read", text,
							  Value("64MiB"), CheckBytes);
	config.AddExtensionOption("skein_text_range_bytes",
							  "Least bytes of a range of a text file that is divided among tasks", text, Value("16MB"),
							  CheckBytes);
	config.AddExtensionOption("skein_join", "auto, broadcast, shuffle (where legal)", text, Value("auto"), CheckJoin);
	config.AddExtensionOption("skein_broadcast_limit", "Largest build side that auto replicates", text, Value("64MiB"),
							  CheckBytes);
	config.AddExtensionOption("skein_page_bytes", "Size of an exchange page", text, Value("1MiB"), CheckPageBytes);
	config.AddExtensionOption("skein_buffer_bytes", "What a task may hold of unread output before it waits", text,
							  Value("256MiB"), CheckBytes);
	config.AddExtensionOption("skein_compression",
							  "Of pages between processes: none, lz4, zstd; auto: lz4 to other machines, else none",
							  text, Value("auto"), CheckCompression);
	config.AddExtensionOption(
		"skein_retry", "When a worker is lost: none; query: all tasks run again on the others, before the first row",
		text, Value("query"), CheckRetry);
	config.AddExtensionOption("skein_work_stealing",
							  "Whether tasks take what slower ones have not begun to read: off, auto where that can "
							  "pay, force wherever it is right",
							  text, Value("auto"), CheckWorkStealing);
	config.AddExtensionOption("skein_debug_unit_delay",
							  "For tests: a task, each unit of which takes so much longer, as in '1:20 ms', or "
							  "'5 ms, 1:20 ms' if those of the others do, too",
							  text, Value(""), CheckUnitDelay);
	config.AddExtensionOption("skein_query_timeout", "Longest time of a distributed query, in seconds; 0: no limit",
							  text, Value("0"), CheckDuration);
	config.AddExtensionOption("skein_connect_timeout", "Longest time to reach a worker", text, Value("5 seconds"),
							  CheckDuration);
	config.AddExtensionOption("skein_heartbeat_interval", "How often an idle link is asked for a sign of life", text,
							  Value("2 seconds"), CheckDuration);
	config.AddExtensionOption(
		"skein_trace_endpoint",
		"Where traces of queries are sent, such as http://host:4318 (OTLP over HTTP); empty: nowhere", text, Value(""),
		CheckTraceEndpoint);
	config.AddExtensionOption("skein_trace_parent", "The traceparent of W3C of which the traces are a part", text,
							  Value(""), CheckTraceParent);
}

Settings Settings::Read(ClientContext &context) {
	Settings result;
	result.mode = ParseMode(ReadText(context, "skein_mode"));
	result.join = ParseJoin(ReadText(context, "skein_join"));
	result.cluster = ReadText(context, "skein_cluster");
	result.workers = ReadNumber(context, "skein_workers");
	result.max_tasks = ReadNumber(context, "skein_max_tasks");
	result.bytes_per_task = ParseBytes(ReadText(context, "skein_bytes_per_task"));
	result.broadcast_limit = ParseBytes(ReadText(context, "skein_broadcast_limit"));
	result.page_bytes = ParseBytes(ReadText(context, "skein_page_bytes"));
	result.buffer_bytes = ParseBytes(ReadText(context, "skein_buffer_bytes"));
	result.compression = ParseCompression(ReadText(context, "skein_compression"));
	result.retry = ParseRetry(ReadText(context, "skein_retry"));
	result.work_stealing = ParseWorkStealing(ReadText(context, "skein_work_stealing"));
	result.unit_delays = ParseUnitDelays(ReadText(context, "skein_debug_unit_delay"));
	result.query_timeout = ParseDuration(ReadText(context, "skein_query_timeout"));
	result.trace_endpoint = ReadText(context, "skein_trace_endpoint");
	result.trace_parent = ReadText(context, "skein_trace_parent");
	result.link.connect_timeout = ParseDuration(ReadText(context, "skein_connect_timeout"));
	result.link.keepalive = 2 * ParseDuration(ReadText(context, "skein_heartbeat_interval"));
	return result;
}

std::vector<std::pair<string, string>> TravellingSettings(ClientContext &context) {
	// The first two differ from process to process even if nobody has set them.
	static constexpr const char *ALWAYS[] = {"TimeZone", "Calendar"};
	static constexpr const char *IF_SET[] = {"default_collation",
											 "default_null_order",
											 "null_order",
											 "default_order",
											 "integer_division",
											 "ieee_floating_point_ops",
											 "scalar_subquery_error_on_multiple_rows",
											 "order_by_non_integer_literal",
											 "old_implicit_casting",
											 "disable_timestamptz_casts",
											 "binary_as_string",
											 "enable_geoparquet_conversion",
											 "disable_parquet_prefetching",
											 "prefetch_all_parquet_files",
											 "preserve_insertion_order",
											 "max_expression_depth",
											 "pivot_limit"};
	std::vector<std::pair<string, string>> result;
	auto &config = DBConfig::GetConfig(context);
	for (auto name : ALWAYS) {
		Value value;
		if (context.TryGetCurrentSetting(name, value) && !value.IsNull()) {
			result.emplace_back(name, value.ToString());
		}
	}
	for (auto name : IF_SET) {
		optional_ptr<const ConfigurationOption> option;
		auto index = config.TryGetSettingIndex(name, option);
		Value value;
		if (index.IsValid() && context.TryGetCurrentUserSetting(index.GetIndex(), value) && !value.IsNull()) {
			result.emplace_back(name, value.ToString());
		}
	}
	return result;
}

} // namespace skein
