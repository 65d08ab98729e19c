#include "interrupt.hpp"

#include "exit_code.hpp"

#include <csignal>

#include <unistd.h>

namespace skein::cli {
namespace {

sigset_t InterruptSignals() {
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	return signals;
}

} // namespace

Interrupt::Interrupt() {
	auto signals = InterruptSignals();
	pthread_sigmask(SIG_BLOCK, &signals, nullptr);
	thread_ = std::thread([this] { Run(); });
}

Interrupt::~Interrupt() {
	stopping_ = true;
	pthread_kill(thread_.native_handle(), SIGINT);
	thread_.join();
}

void Interrupt::Watch(duckdb::Connection &connection) {
	std::lock_guard<std::mutex> guard(mutex_);
	context_ = connection.context;
}

void Interrupt::Check() const {
	if (interrupted_) {
		throw CommandError(ExitCode::INTERRUPTED, "interrupted");
	}
}

bool Interrupt::WaitFor(std::chrono::milliseconds time) {
	std::unique_lock<std::mutex> guard(mutex_);
	return changed_.wait_for(guard, time, [&]() { return interrupted_.load(); });
}

void Interrupt::Run() {
	auto signals = InterruptSignals();
	// A query that starts just now forgets that it was interrupted: say it again until the command ends.
	constexpr timespec AGAIN_AFTER{0, 100000000};
	while (true) {
		auto signal = interrupted_ ? sigtimedwait(&signals, nullptr, &AGAIN_AFTER) : sigwaitinfo(&signals, nullptr);
		if (stopping_) {
			return;
		}
		if (signal == SIGINT && interrupted_.exchange(true)) {
			_exit(static_cast<int>(ExitCode::INTERRUPTED));
		}
		if (!interrupted_) {
			continue;
		}
		std::lock_guard<std::mutex> guard(mutex_);
		changed_.notify_all();
		if (auto context = context_.lock()) {
			context->Interrupt();
		}
	}
}

} // namespace skein::cli
