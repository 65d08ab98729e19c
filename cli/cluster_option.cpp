#include "cluster_option.hpp"

#include "address.hpp"
#include "exit_code.hpp"
#include "machine.hpp"

#include <algorithm>

namespace skein::cli {
namespace {

constexpr size_t MAX_WORKERS = 1024;

} // namespace

void ClusterOption::AddTo(CLI::App &app) {
	auto group =
		app.add_option_group("cluster", "The workers; by default as many inside this process as half its cores");
	CLI::Range count(size_t(1), MAX_WORKERS);
	group->add_option("--workers", workers, "Workers inside this process")->check(count);
	group->add_option("--processes", processes, "Worker processes, started on this machine for this command")
		->check(count);
	group->add_option("--cluster", addresses, "Running workers: HOST:PORT,... or dns:///NAME:PORT")
		->check(ClusterAddresses());
	group->require_option(0, 1);
}

Cluster::Cluster(const ClusterOption &option) {
	settings_.emplace_back("skein_mode", "force");
	if (!option.addresses.empty()) {
		is_external_ = true;
		description_ = "--cluster " + option.addresses;
		count_ = CountAddresses(option.addresses);
		settings_.emplace_back("skein_cluster", option.addresses);
	} else if (option.processes) {
		count_ = *option.processes;
		StartProcesses(count_);
		description_ = "--processes " + std::to_string(*option.processes);
		settings_.emplace_back("skein_cluster", processes_->AddressList());
	} else {
		count_ = option.workers.value_or(std::max<size_t>(2, CoreCount() / 2));
		description_ = "--workers " + std::to_string(count_);
		settings_.emplace_back("skein_workers", std::to_string(count_));
	}
}

void Cluster::StartProcesses(size_t count) {
	try {
		processes_.emplace(ShareMachine(count, "127.0.0.1:0"));
	} catch (const CommandError &error) {
		throw CommandError(ExitCode::CLUSTER_UNREACHABLE, error.what());
	}
}

std::optional<double> Cluster::TotalCpuSeconds() const {
	if (is_external_) {
		return std::nullopt;
	}
	auto total = OwnCpuSeconds();
	if (processes_) {
		for (auto &child : processes_->Children()) {
			total += CpuSeconds(child.pid);
		}
	}
	return total;
}

} // namespace skein::cli
