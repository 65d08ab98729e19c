#include "worker_log.hpp"

#include "exit_code.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>
#include <utility>

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

//! How long the end of a worker waits for its log.
constexpr std::chrono::seconds STOP_TIMEOUT{1};

//! What every line begins with.
nlohmann::ordered_json LineOf(const char *level, const char *event, const std::string &worker,
							  std::chrono::system_clock::time_point time) {
	nlohmann::ordered_json line;
	line["time"] = TimeText(time);
	line["level"] = level;
	line["event"] = event;
	line["worker"] = worker;
	return line;
}

std::string Dump(const nlohmann::ordered_json &line) {
	return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

double Milliseconds(std::chrono::microseconds time) {
	return static_cast<double>(time.count()) / 1000;
}

} // namespace

std::string LogLine(const WorkerEvent &event, const std::string &worker, std::chrono::system_clock::time_point time) {
	auto failed = event.end && event.end->state == "failed";
	auto line = LineOf(failed ? "error" : "info", NameOf(event.kind), worker, time);
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
	return Dump(line);
}

void SayOnStderr(const std::string &message) {
	pollfd ready{STDERR_FILENO, POLLOUT, 0};
	if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
		auto line = "skein: " + message + "\n";
		[[maybe_unused]] auto written = write(STDERR_FILENO, line.data(), line.size());
	}
}

WorkerLog::WorkerLog(const std::string &path) : path_(path) {
	auto descriptor = STDERR_FILENO;
	if (path != "-") {
		descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (descriptor < 0) {
			throw CommandError(ExitCode::WRONG_USAGE, "cannot write '" + path + "': " + std::strerror(errno));
		}
	}
	LogWriter::Options options;
	options.missing = [heading = heading_](uint64_t lines) {
		std::lock_guard<std::mutex> guard(heading->mutex);
		auto line = LineOf("warning", "lines_dropped", heading->worker, std::chrono::system_clock::now());
		line["lines"] = lines;
		return Dump(line);
	};
	options.failed = [path](int error) {
		if (path != "-") {
			SayOnStderr("cannot write the log '" + path + "': " + std::strerror(error));
		}
	};
	writer_.emplace(descriptor, std::move(options));
}

WorkerLog::~WorkerLog() {
	Stop();
}

void WorkerLog::SetWorker(const std::string &worker) {
	std::lock_guard<std::mutex> guard(heading_->mutex);
	heading_->worker = worker;
}

void WorkerLog::Write(const WorkerEvent &event) {
	std::lock_guard<std::mutex> guard(heading_->mutex);
	writer_->Write(LogLine(event, heading_->worker, std::chrono::system_clock::now()));
}

void WorkerLog::Stop() {
	if (std::exchange(stopped_, true)) {
		return;
	}
	auto lines = writer_->Stop(STOP_TIMEOUT);
	if (lines > 0 && path_ != "-") {
		SayOnStderr("the last " + std::to_string(lines) + " lines of the log '" + path_ + "' were not written");
	}
}

} // namespace skein::cli
