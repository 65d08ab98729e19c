#pragma once

#include "child_processes.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skein::cli {

//! Which workers a command uses: the options --workers, --processes and --cluster, at most one of them.
struct ClusterOption {
	std::optional<size_t> workers;
	std::optional<size_t> processes;
	std::string addresses;

	void AddTo(CLI::App &app);
};

//! The workers that a ClusterOption asked for, for as long as this object lives.
//!
//! Worker processes are started and stopped with it, so it must be created before this process has threads.
class Cluster {
public:
	explicit Cluster(const ClusterOption &option);

	//! The settings, as name and value, that make a session use these workers for every query, however small.
	const std::vector<std::pair<std::string, std::string>> &Settings() const {
		return settings_;
	}
	//! How the workers were asked for: `--workers 2`.
	const std::string &Description() const {
		return description_;
	}
	//! How many there are; 0 where only a name server knows.
	size_t Count() const {
		return count_;
	}
	//! CPU time so far of all processes that take part, this one included; nothing when some are beyond our sight.
	std::optional<double> TotalCpuSeconds() const;

private:
	void StartProcesses(size_t count);

	std::optional<ChildProcesses> processes_;
	bool is_external_ = false;
	size_t count_ = 0;
	std::string description_;
	std::vector<std::pair<std::string, std::string>> settings_;
};

} // namespace skein::cli
