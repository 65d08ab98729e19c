#include "stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace skein::cli {

StopSignals::StopSignals() {
	sigemptyset(&signals_);
	sigaddset(&signals_, SIGTERM);
	sigaddset(&signals_, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
	descriptor_ = signalfd(-1, &signals_, SFD_CLOEXEC);
}

StopSignals::~StopSignals() {
	close(descriptor_);
}

void StopSignals::Wait() {
	int signal = 0;
	sigwait(&signals_, &signal);
	pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

} // namespace skein::cli
