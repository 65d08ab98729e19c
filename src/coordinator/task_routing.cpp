#include "coordinator/task_routing.hpp"

#include "duckdb/common/types/hash.hpp"

#include <algorithm>
#include <tuple>

namespace skein {

namespace {

class TaskRouter {
public:
	explicit TaskRouter(const std::vector<std::string> &workers) : workers_(workers), tasks_of_query_(workers.size()) {
	}

	std::vector<size_t> RouteStage(const StagePlan &stage) {
		std::vector<size_t> tasks_of_stage(workers_.size());
		std::vector<size_t> result(stage.tasks, NONE);
		auto take = [&](uint32_t task, size_t worker) {
			result[task] = worker;
			tasks_of_stage[worker]++;
		};
		for (uint32_t task = 0; task < stage.tasks; task++) {
			auto chosen = PositionOf(WishOf(stage, task).worker);
			if (chosen != NONE) {
				take(task, chosen);
			}
		}
		for (uint32_t task = 0; task < stage.tasks; task++) {
			if (result[task] == NONE) {
				auto is_last_round = stage.tasks - task <= stage.tasks % workers_.size();
				take(task, Best(stage, task, tasks_of_stage, is_last_round));
			}
		}
		for (auto worker : result) {
			tasks_of_query_[worker]++;
		}
		return result;
	}

private:
	static constexpr size_t NONE = SIZE_MAX;

	static TaskWish WishOf(const StagePlan &stage, uint32_t task) {
		return task < stage.wishes.size() ? stage.wishes[task] : TaskWish();
	}

	size_t PositionOf(const std::string &worker) const {
		auto found = worker.empty() ? workers_.end() : std::find(workers_.begin(), workers_.end(), worker);
		return found == workers_.end() ? NONE : static_cast<size_t>(found - workers_.begin());
	}

	//! `is_last_round`: not every worker gets one more task of the stage.
	size_t Best(const StagePlan &stage, uint32_t task, const std::vector<size_t> &tasks_of_stage,
				bool is_last_round) const {
		auto key = WishOf(stage, task).cache_key;
		auto first = stage.tasks == 1 ? stage.id : task;
		auto cost = [&](size_t worker) {
			auto distance = (worker + workers_.size() - first % workers_.size()) % workers_.size();
			return std::make_tuple(tasks_of_stage[worker], is_last_round ? tasks_of_query_[worker] : 0,
								   key.empty() ? distance : Dislike(workers_[worker], key), distance);
		};
		size_t best = 0;
		auto least = cost(best);
		for (size_t worker = 1; worker < workers_.size(); worker++) {
			auto next = cost(worker);
			if (next < least) {
				best = worker;
				least = next;
			}
		}
		return best;
	}

	//! The same on every machine: the worker with the least gets the key.
	static uint64_t Dislike(const std::string &worker, const std::string &key) {
		auto text = worker + '\n' + key;
		return duckdb::Hash(text.data(), text.size());
	}

	const std::vector<std::string> &workers_;
	std::vector<size_t> tasks_of_query_;
};

} // namespace

std::vector<std::vector<size_t>> RouteTasks(const DistributedPlan &plan, const std::vector<std::string> &workers) {
	TaskRouter router(workers);
	std::vector<std::vector<size_t>> result;
	for (auto &stage : plan.stages) {
		result.push_back(stage.in_session ? std::vector<size_t>() : router.RouteStage(stage));
	}
	return result;
}

} // namespace skein
