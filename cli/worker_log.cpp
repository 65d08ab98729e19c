#include "worker_log.hpp"

#include "exit_code.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

namespace skein::cli {
namespace {

const char *NameOf(WorkerEvent::Kind kind) {
	switch (kind) {
	case WorkerEvent::Kind::QUERY_STARTED:
		return "query_started";
	case WorkerEvent::Kind::TASK_STARTED:
		return "task_started";
	case WorkerEvent::Kind::TASK_ENDED:
		return "task_ended";
	default:
		return "query_ended";
	}
}

//! As RFC 3339 has it, in UTC, with milliseconds.
std::string TimeText(std::chrono::system_clock::time_point time) {
	auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
	auto seconds = static_cast<time_t>(millis / 1000);
	tm parts{};
	gmtime_r(&seconds, &parts);
	std::array<char, 32> day{};
	strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts);
	auto rest = std::to_string(1000 + millis % 1000).substr(1);
	return std::string(day.data()) + "." + rest + "Z";
}

double Milliseconds(std::chrono::microseconds time) {
	return static_cast<double>(time.count()) / 1000;
}

} // namespace

std::string LogLine(const WorkerEvent &event, const std::string &worker, std::chrono::system_clock::time_point time) {
	nlohmann::ordered_json line;
	line["time"] = TimeText(time);
	line["level"] = event.end && event.end->state == "failed" ? "error" : "info";
	line["event"] = NameOf(event.kind);
	line["worker"] = worker;
	line["query"] = event.query;
	line["attempt"] = event.attempt;
	if (event.tasks) {
		line["tasks"] = *event.tasks;
	}
	if (event.stage && event.task) {
		line["stage"] = *event.stage;
		line["task"] = *event.task;
	}
	if (event.end) {
		line["state"] = event.end->state;
		line["rows"] = event.end->rows;
		line["bytes"] = event.end->bytes;
		line["wall_ms"] = Milliseconds(event.end->wall);
		line["queue_ms"] = Milliseconds(event.end->queue);
		if (!event.end->error.empty()) {
			line["error"] = event.end->error;
		}
	}
	return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

WorkerLog::WorkerLog(const std::string &path) : out_(path == "-" ? std::cerr : file_) {
	if (path != "-") {
		file_.open(path, std::ios::app);
		if (!file_) {
			throw CommandError(ExitCode::WRONG_USAGE, "cannot write '" + path + "': " + std::strerror(errno));
		}
	}
}

void WorkerLog::SetWorker(const std::string &worker) {
	std::lock_guard<std::mutex> guard(mutex_);
	worker_ = worker;
}

void WorkerLog::Write(const WorkerEvent &event) {
	std::lock_guard<std::mutex> guard(mutex_);
	out_ << LogLine(event, worker_, std::chrono::system_clock::now()) << '\n' << std::flush;
}

} // namespace skein::cli
