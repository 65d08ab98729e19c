#pragma once

#include <csignal>

namespace skein::cli {

//! SIGTERM and SIGINT, blocked in the calling thread and all threads made by it later, to be waited for instead.
//! Threads: create it before any other thread.
class StopSignals {
public:
	StopSignals();
	~StopSignals();
	StopSignals(const StopSignals &) = delete;
	StopSignals &operator=(const StopSignals &) = delete;

	//! Readable once one of the signals has come.
	int Descriptor() const {
		return descriptor_;
	}
	//! Waits for one of the signals. From then on a further one ends the process at once.
	void Wait();

private:
	sigset_t signals_{};
	int descriptor_ = -1;
};

} // namespace skein::cli
