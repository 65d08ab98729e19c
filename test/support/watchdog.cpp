#include "watchdog.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

namespace skein::test {
namespace {

constexpr std::chrono::seconds INTERRUPT_LIMIT{15};
//! How long the thread sleeps; when it wakes later than this after it should have, the process did not run meanwhile.
constexpr std::chrono::seconds STEP{1};

} // namespace

void PrintStacks() {
	auto command = "gdb -p " + std::to_string(getpid()) + " -batch -ex 'thread apply all backtrace 24' 1>&2";
	if (std::system(command.c_str()) != 0) {
		std::cerr << "no stacks: gdb could not be run" << std::endl;
	}
}

Watchdog::Watchdog(std::chrono::seconds limit) : limit_(limit), thread_([this] { Run(); }) {
}

Watchdog::~Watchdog() {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		stopping_ = true;
	}
	changed_.notify_all();
	thread_.join();
}

Watchdog::Watch::Watch(Watchdog &watchdog, duckdb::Connection &connection, std::string what) : watchdog_(watchdog) {
	std::lock_guard<std::mutex> guard(watchdog_.mutex_);
	watchdog_.connection_ = &connection;
	watchdog_.what_ = std::move(what);
	watchdog_.deadline_ = std::chrono::steady_clock::now() + watchdog_.limit_;
	watchdog_.timed_out_ = false;
	watchdog_.changed_.notify_all();
}

Watchdog::Watch::~Watch() {
	std::lock_guard<std::mutex> guard(watchdog_.mutex_);
	watchdog_.connection_ = nullptr;
	watchdog_.changed_.notify_all();
}

bool Watchdog::Watch::TimedOut() const {
	std::lock_guard<std::mutex> guard(watchdog_.mutex_);
	return watchdog_.timed_out_;
}

void Watchdog::Run() {
	std::unique_lock<std::mutex> lock(mutex_);
	while (!stopping_) {
		if (!connection_) {
			changed_.wait(lock);
			continue;
		}
		auto wake = std::min(deadline_, std::chrono::steady_clock::now() + STEP);
		changed_.wait_until(lock, wake);
		auto late = std::chrono::steady_clock::now() - wake;
		if (late > STEP) {
			deadline_ += late;
		}
		if (!connection_ || std::chrono::steady_clock::now() < deadline_) {
			continue;
		}
		if (timed_out_) {
			std::cout.flush();
			std::cerr << "cannot be interrupted: " << what_ << std::endl;
			PrintStacks();
			std::_Exit(1);
		}
		timed_out_ = true;
		deadline_ += INTERRUPT_LIMIT;
		connection_->Interrupt();
	}
}

} // namespace skein::test
