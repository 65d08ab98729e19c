#pragma once

#include "exchange/exchange_input.hpp"
#include "plan/distributed_plan.hpp"
#include "skein.pb.h"

#include <set>

namespace skein {

struct RunOptions;

//! One try to run a distributed plan: which worker runs which task, and the messages that say so. A value.
class Attempt {
public:
	//! `workers` must not be empty. RouteTasks() says who runs what.
	Attempt(std::shared_ptr<const DistributedPlan> plan, AttemptKey key, std::vector<std::string> workers);

	const AttemptKey &Key() const {
		return key_;
	}
	const std::vector<std::string> &Workers() const {
		return workers_;
	}
	//! Those that have tasks.
	const std::set<std::string> &UsedWorkers() const {
		return used_workers_;
	}
	//! How many tasks run on workers.
	uint32_t TaskCount() const {
		return task_count_;
	}
	std::string WorkerOf(uint32_t stage, uint32_t task) const;
	//! Where partition 0 of an output is read, for the head.
	std::vector<Producer> ProducersOf(const StageInput &input) const;
	wire::Message StartMessage(const std::string &worker, const RunOptions &options) const;

private:
	void AddTask(const StagePlan &stage, uint32_t number, wire::StartTasks &start) const;

	std::shared_ptr<const DistributedPlan> plan_;
	AttemptKey key_;
	std::vector<std::string> workers_;
	//! By stage and task, the position in workers_.
	std::vector<std::vector<size_t>> routes_;
	std::set<std::string> used_workers_;
	uint32_t task_count_ = 0;
};

} // namespace skein
