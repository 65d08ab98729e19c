#include "machine.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace skein::cli {
namespace {

double ReadClock(clockid_t clock) {
	timespec time{};
	if (clock_gettime(clock, &time) != 0) {
		return 0;
	}
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

//! The value of the first line `key : value` of `path`, or nothing.
std::string ReadField(const char *path, const std::string &key) {
	std::ifstream file(path);
	for (std::string line; std::getline(file, line);) {
		auto colon = line.find(':');
		if (colon != std::string::npos && line.rfind(key, 0) == 0) {
			return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
		}
	}
	return {};
}

} // namespace

size_t CoreCount() {
	cpu_set_t cores;
	if (sched_getaffinity(0, sizeof(cores), &cores) == 0) {
		return static_cast<size_t>(CPU_COUNT(&cores));
	}
	return std::max(1U, std::thread::hardware_concurrency());
}

uint64_t MemoryBytes() {
	auto bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
	uint64_t limit = 0;
	if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) {
		bytes = std::min(bytes, limit);
	}
	return bytes;
}

double OwnCpuSeconds() {
	return ReadClock(CLOCK_PROCESS_CPUTIME_ID);
}

double CpuSeconds(pid_t process) {
	clockid_t clock;
	return clock_getcpuclockid(process, &clock) == 0 ? ReadClock(clock) : 0;
}

nlohmann::ordered_json DescribeMachine() {
	utsname system{};
	uname(&system);
	nlohmann::ordered_json result;
	result["cpu"] = ReadField("/proc/cpuinfo", "model name");
	result["cores"] = CoreCount();
	result["memory_bytes"] = MemoryBytes();
	result["system"] = std::string(system.sysname) + " " + system.release + " " + system.machine;
	return result;
}

} // namespace skein::cli
