#include "log_writer.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace skein::cli {
namespace {

//! Writes all of `text`. Returns 0, or `errno`; `written` is how much was.
int WriteAll(int descriptor, const std::string &text, size_t &written) {
	written = 0;
	while (written < text.size()) {
		auto count = write(descriptor, text.data() + written, text.size() - written);
		if (count >= 0) {
			written += static_cast<size_t>(count);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

} // namespace

struct LogWriter::State {
	State(int descriptor, Options options) : descriptor(descriptor), options(std::move(options)) {
	}

	struct Entry {
		std::string line;
		//! Lines that would be between it and the one before.
		uint64_t missing_before = 0;
	};

	//! Returns whether it was written. In the writer's thread, unlocked.
	bool WriteLine(const std::string &line) {
		size_t written = 0;
		auto error = WriteAll(descriptor, (in_line ? "\n" : "") + line + "\n", written);
		in_line = error != 0 && (in_line || written > 0);
		if (error != 0 && !failing) {
			options.failed(error);
		}
		failing = error != 0;
		return !failing;
	}
	//! Writes what stands for missing lines, if any are, then the line; what fails is missing from then on.
	void WriteEntry(const Entry &entry) {
		missing += entry.missing_before;
		if (missing > 0 && WriteLine(options.missing(missing))) {
			missing = 0;
		}
		if (!entry.line.empty() && !WriteLine(entry.line)) {
			missing++;
		}
	}

	const int descriptor;
	const Options options;

	std::mutex mutex;
	std::condition_variable changed;
	std::deque<Entry> waiting;
	size_t waiting_bytes = 0;
	//! Lines that found no room since the last one that did.
	uint64_t dropped = 0;
	//! Lines that wait no more and are not known to have been written.
	uint64_t taken = 0;
	bool stopping = false;
	bool abandoned = false;
	bool ended = false;
	//! Lines that had not been written when it was stopped.
	uint64_t left = 0;

	// Of the writer's thread alone.
	uint64_t missing = 0;
	bool failing = false;
	//! Whether a part of a line was written, and not its end.
	bool in_line = false;
};

LogWriter::LogWriter(int descriptor, Options options)
	: state_(std::make_shared<State>(descriptor, std::move(options))), thread_([state = state_]() { Run(*state); }) {
}

LogWriter::~LogWriter() {
	Stop(std::chrono::milliseconds(0));
}

void LogWriter::Write(std::string line) {
	{
		std::lock_guard<std::mutex> guard(state_->mutex);
		auto bytes = line.size() + sizeof(State::Entry);
		if (state_->stopping || state_->waiting_bytes + bytes > MAX_WAITING_BYTES) {
			state_->dropped++;
			return;
		}
		state_->waiting_bytes += bytes;
		state_->waiting.push_back({std::move(line), std::exchange(state_->dropped, 0)});
	}
	state_->changed.notify_all();
}

uint64_t LogWriter::Stop(std::chrono::milliseconds timeout) {
	{
		std::unique_lock<std::mutex> guard(state_->mutex);
		state_->stopping = true;
		state_->changed.notify_all();
		if (!state_->changed.wait_for(guard, timeout, [&]() { return state_->ended || state_->abandoned; })) {
			state_->abandoned = true;
			state_->left = state_->dropped + state_->taken;
			for (auto &entry : state_->waiting) {
				state_->left += 1 + entry.missing_before;
			}
			state_->waiting.clear();
		}
	}
	if (thread_.joinable()) {
		// A thread that a pipe holds cannot be waited for: it has its share of the state.
		state_->abandoned ? thread_.detach() : thread_.join();
	}
	return state_->left;
}

void LogWriter::Run(State &state) {
	// A pipe whose reader has gone is an error like others.
	sigset_t pipe_signal;
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
	std::unique_lock<std::mutex> guard(state.mutex);
	while (!state.abandoned) {
		State::Entry entry;
		if (!state.waiting.empty()) {
			entry = std::move(state.waiting.front());
			state.waiting.pop_front();
			state.waiting_bytes -= entry.line.size() + sizeof(State::Entry);
		} else if (state.dropped > 0 && !state.failing) {
			entry.missing_before = std::exchange(state.dropped, 0);
		} else if (state.stopping) {
			break;
		} else {
			state.changed.wait(guard);
			continue;
		}
		state.taken += entry.missing_before + (entry.line.empty() ? 0 : 1);
		guard.unlock();
		state.WriteEntry(entry);
		guard.lock();
		state.taken = state.missing;
	}
	if (!state.abandoned) {
		state.left = state.taken + state.dropped;
	}
	state.ended = true;
	state.changed.notify_all();
}

} // namespace skein::cli
