#include "simulation.hpp"

#include <algorithm>
#include <optional>

namespace skein::cli {
namespace {

//! A task in the simulation.
struct SimulatedTask {
	size_t stage = 0;
	size_t task = 0;
	double cpu_s = 0;
	double ready_s = 0;
	double start_s = 0;
	double end_s = 0;
	//! What it waited for last; none for a task that starts at once.
	std::optional<size_t> cause;
};

std::string Decimal(double value, int digits) {
	char text[32];
	std::snprintf(text, sizeof(text), "%.*f", digits, value);
	return text;
}

class Simulator {
public:
	Simulator(const MeasuredQuery &query, size_t machines, const SimulatedNetwork &network)
		: query_(query), machines_(machines), network_(network), by_stage_(query.stages.size()) {
		for (size_t stage = 0; stage < query.stages.size(); stage++) {
			for (size_t task = 0; task < query.stages[stage].cpu_s.size(); task++) {
				by_stage_[stage].push_back(tasks_.size());
				tasks_.push_back({stage, task, query.stages[stage].cpu_s[task], 0, 0, 0, std::nullopt});
			}
		}
	}

	Simulation Run(double alone_s) {
		AddNetworkCpu();
		Schedule();
		Describe();
		double arrived_s = 0;
		std::optional<size_t> last;
		for (auto &input : query_.head_inputs) {
			auto arrival = ArrivalOf(input, 0, std::nullopt);
			if (!last || arrival.first > arrived_s) {
				std::tie(arrived_s, last) = arrival;
			}
		}
		FollowPath(last, arrived_s);
		result_.total_s = query_.session_s + 2 * network_.latency_s + arrived_s;
		result_.limit = FindLimit(alone_s);
		return std::move(result_);
	}

private:
	size_t MachineOf(size_t task) const {
		return task % machines_;
	}

	//! Which share of what `input` brings to task `reader` comes from tasks on other machines. No machine: the
	//! session's.
	double RemoteShare(const MeasuredInput &input, std::optional<size_t> machine) const {
		auto &shares = query_.stages[input.stage - 1].sent_shares;
		double local = 0;
		for (size_t task = 0; task < shares.size(); task++) {
			local += machine && MachineOf(task) == *machine ? shares[task] : 0;
		}
		return 1 - local;
	}

	//! Half of the network's processor time for each end. What the session does for it is not counted.
	void AddNetworkCpu() {
		auto add = [&](const MeasuredInput &input, size_t reader, std::optional<size_t> machine) {
			auto &producer = query_.stages[input.stage - 1];
			for (size_t task = 0; task < producer.cpu_s.size(); task++) {
				if (machine && MachineOf(task) == *machine) {
					continue;
				}
				auto cpu_s =
					input.bytes * input.shares[reader] * producer.sent_shares[task] * network_.cpu_s_per_byte / 2;
				Charge(by_stage_[input.stage - 1][task], cpu_s);
			}
		};
		for (auto &input : query_.head_inputs) {
			add(input, 0, std::nullopt);
		}
		for (size_t stage = 0; stage < query_.stages.size(); stage++) {
			for (auto &input : query_.stages[stage].inputs) {
				for (size_t reader = 0; reader < input.shares.size(); reader++) {
					add(input, reader, MachineOf(reader));
					Charge(by_stage_[stage][reader], input.bytes * input.shares[reader] *
														 RemoteShare(input, MachineOf(reader)) *
														 network_.cpu_s_per_byte / 2);
				}
			}
		}
	}

	void Charge(size_t task, double cpu_s) {
		tasks_[task].cpu_s += cpu_s;
		result_.network_cpu_s += cpu_s;
	}

	//! When the share of task `reader` of an input is there, and which task was the last to send some.
	std::pair<double, size_t> ArrivalOf(const MeasuredInput &input, size_t reader,
										std::optional<size_t> machine) const {
		auto &producers = by_stage_[input.stage - 1];
		auto last = producers.front();
		auto first_start = tasks_[last].start_s;
		for (auto producer : producers) {
			last = tasks_[producer].end_s > tasks_[last].end_s ? producer : last;
			first_start = std::min(first_start, tasks_[producer].start_s);
		}
		auto bytes = input.bytes * input.shares[reader] * RemoteShare(input, machine);
		auto passed_s = first_start + bytes / network_.bytes_per_second;
		return {std::max(tasks_[last].end_s, passed_s) + network_.latency_s, last};
	}

	//! Begins always the task that can begin first.
	void Schedule() {
		std::vector<double> free_s(machines_, 0);
		std::vector<std::optional<size_t>> last_on(machines_);
		std::vector<size_t> left(query_.stages.size());
		std::vector<size_t> ready;
		std::vector<bool> released(query_.stages.size(), false);
		for (size_t stage = 0; stage < query_.stages.size(); stage++) {
			left[stage] = by_stage_[stage].size();
		}
		Release(left, released, ready);
		while (!ready.empty()) {
			auto start_of = [&](size_t task) {
				return std::max(tasks_[task].ready_s, free_s[MachineOf(tasks_[task].task)]);
			};
			auto next = std::min_element(ready.begin(), ready.end(),
										 [&](size_t a, size_t b) { return start_of(a) < start_of(b); });
			auto &task = tasks_[*next];
			auto machine = MachineOf(task.task);
			task.start_s = start_of(*next);
			if (free_s[machine] > task.ready_s) {
				task.cause = last_on[machine];
			}
			task.end_s = task.start_s + task.cpu_s;
			free_s[machine] = task.end_s;
			last_on[machine] = *next;
			left[task.stage]--;
			ready.erase(next);
			Release(left, released, ready);
		}
	}

	//! Adds the tasks of stages whose inputs are complete.
	void Release(const std::vector<size_t> &left, std::vector<bool> &released, std::vector<size_t> &ready) {
		for (size_t stage = 0; stage < query_.stages.size(); stage++) {
			auto &inputs = query_.stages[stage].inputs;
			if (released[stage] ||
				std::any_of(inputs.begin(), inputs.end(), [&](auto &input) { return left[input.stage - 1] > 0; })) {
				continue;
			}
			released[stage] = true;
			for (auto task : by_stage_[stage]) {
				for (auto &input : inputs) {
					auto arrival = ArrivalOf(input, tasks_[task].task, MachineOf(tasks_[task].task));
					if (arrival.first > tasks_[task].ready_s) {
						tasks_[task].ready_s = arrival.first;
						tasks_[task].cause = arrival.second;
					}
				}
				ready.push_back(task);
			}
		}
	}

	void Describe() {
		for (size_t stage = 0; stage < query_.stages.size(); stage++) {
			SimulatedStage entry;
			entry.id = query_.stages[stage].id;
			entry.tasks = by_stage_[stage].size();
			entry.start_s = tasks_[by_stage_[stage].front()].start_s;
			for (auto number : by_stage_[stage]) {
				auto &task = tasks_[number];
				entry.start_s = std::min(entry.start_s, task.start_s);
				entry.end_s = std::max(entry.end_s, task.end_s);
				entry.cpu_s += task.cpu_s;
				entry.slowest_s = std::max(entry.slowest_s, task.cpu_s);
			}
			result_.cpu_s += entry.cpu_s;
			result_.stages.push_back(entry);
		}
	}

	//! From the task whose rows the head got last, at `until`, back to the start.
	void FollowPath(std::optional<size_t> last, double until) {
		for (auto next = last; next; next = tasks_[*next].cause) {
			auto &task = tasks_[*next];
			result_.stages[task.stage].path_s += task.end_s - task.start_s;
			result_.stages[task.stage].transfer_s += until - task.end_s;
			until = task.start_s;
		}
	}

	//! What most of the machines' time is lost to that DuckDB alone does not need.
	std::string FindLimit(double alone_s) const {
		auto machines = static_cast<double>(machines_);
		auto lost_s = std::max(result_.cpu_s - alone_s, 0.0);
		auto limit = alone_s > 0 ? "the tasks' work: " + Decimal(result_.cpu_s / alone_s, 2) + " x DuckDB's" : "work";
		if (query_.session_s * machines > lost_s) {
			lost_s = query_.session_s * machines;
			limit = "the session: planning and head";
		}
		for (auto &stage : result_.stages) {
			auto tasks = static_cast<double>(stage.tasks);
			auto name = "stage " + std::to_string(stage.id);
			auto idle_s = stage.path_s * machines - stage.cpu_s;
			if (idle_s > lost_s) {
				lost_s = idle_s;
				limit =
					stage.tasks < machines_ && stage.slowest_s * tasks < 2 * stage.cpu_s
						? name + ": only " + std::to_string(stage.tasks) + (stage.tasks == 1 ? " task" : " tasks")
						: name + ": slowest task " + Decimal(stage.slowest_s * tasks / stage.cpu_s, 1) + " x the mean";
			}
			if (stage.transfer_s * machines > lost_s) {
				lost_s = stage.transfer_s * machines;
				limit = name + ": its rows on the network";
			}
		}
		return limit;
	}

	const MeasuredQuery &query_;
	const size_t machines_;
	const SimulatedNetwork network_;
	std::vector<SimulatedTask> tasks_;
	//! Indexes of its tasks.
	std::vector<std::vector<size_t>> by_stage_;
	Simulation result_;
};

} // namespace

Simulation Simulate(const MeasuredQuery &query, size_t machines, const SimulatedNetwork &network, double alone_s) {
	return Simulator(query, machines, network).Run(alone_s);
}

} // namespace skein::cli
