#include "wire/messages/error_codec.hpp"

#include "duckdb/common/string_util.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *LOST_WORKER = "lost_worker";

// ErrorData takes extra fields only in the form in which exceptions carry them.
ErrorData MakeError(ExceptionType type, const string &message, const unordered_map<string, string> &extra) {
	return ErrorData(StringUtil::ExceptionToJSONMap(type, message, extra));
}

} // namespace

void EncodeError(const ErrorData &error, bool consequence, wire::Error &target) {
	target.set_type(static_cast<uint32_t>(error.Type()));
	target.set_message(error.RawMessage());
	for (auto &entry : error.ExtraInfo()) {
		auto &extra = *target.add_extra();
		extra.set_name(entry.first);
		extra.set_value(entry.second);
	}
	target.set_consequence(consequence);
}

ErrorData DecodeError(const wire::Error &source) {
	unordered_map<string, string> extra;
	for (auto &entry : source.extra()) {
		extra[entry.name()] = entry.value();
	}
	return MakeError(static_cast<ExceptionType>(source.type()), source.message(), extra);
}

ErrorData WithPlace(const ErrorData &error, const string &where) {
	return MakeError(error.Type(), error.RawMessage() + " (" + where + ")", error.ExtraInfo());
}

ErrorData LostWorkerError(const string &address, const string &reason, bool had_answered) {
	auto why = reason.empty() ? string("it closed the connection") : reason;
	return MakeError(ExceptionType::IO, (had_answered ? "lost worker " : "cannot reach worker ") + address + ": " + why,
					 {{LOST_WORKER, address}});
}

string LostWorkerOf(const ErrorData &error) {
	auto entry = error.ExtraInfo().find(LOST_WORKER);
	return entry == error.ExtraInfo().end() ? string() : entry->second;
}

} // namespace skein
