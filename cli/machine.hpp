#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace skein::cli {

//! Cores that this process may use.
size_t CoreCount();

//! Memory that this process may use: the machine's, or its control group's limit where that is lower.
uint64_t MemoryBytes();

//! CPU time of this process so far, user and system, all threads.
double OwnCpuSeconds();

//! The same for another process; 0 when it has ended.
double CpuSeconds(pid_t process);

//! Processor, cores, memory and system of this machine, for a report.
nlohmann::ordered_json DescribeMachine();

} // namespace skein::cli
