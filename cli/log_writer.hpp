#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace skein::cli {

//! Writes lines to a file, pipe or terminal in a thread of its own, so that whoever logs never waits for it.
//!
//! Thread-safe. At most MAX_WAITING_BYTES wait to be written; what comes then, and what cannot be written, is dropped
//! and counted. The first line that is written after that is preceded by one that says how many are missing.
class LogWriter {
public:
	static constexpr size_t MAX_WAITING_BYTES = 4 << 20;

	//! Both are called in the writer's thread, and own what they use: that thread may outlive this.
	struct Options {
		//! The line, without its end, that stands for so many that are missing.
		std::function<std::string(uint64_t)> missing;
		//! Is told the `errno` of a write that failed; once, until one has succeeded.
		std::function<void(int)> failed;
	};

	//! Writes to `descriptor`, which must stay open as long as the process runs.
	LogWriter(int descriptor, Options options);
	//! As Stop(), without waiting.
	~LogWriter();
	LogWriter(const LogWriter &) = delete;
	LogWriter &operator=(const LogWriter &) = delete;

	//! `line` comes without its end.
	void Write(std::string line);
	//! Takes no more lines and writes those that wait. Returns how many it could not write within `timeout`: these are
	//! dropped, and the thread is left to end when it can. Idempotent.
	uint64_t Stop(std::chrono::milliseconds timeout);

private:
	struct State;
	static void Run(State &state);

	//! Shared with a thread that may be left behind.
	const std::shared_ptr<State> state_;
	std::thread thread_;
};

} // namespace skein::cli
