#pragma once

#include "plan/exchange_kind.hpp"
#include "plan/planned_operator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace skein {

//! Which output of which stage is read.
struct StageInput {
	uint32_t stage = 0;
	uint32_t output = 0;
};

//! What a stage makes of its rows for one consumer.
struct StageOutput {
	ExchangeKind kind = ExchangeKind::COALESCE;
	//! Tasks of the consumer.
	uint32_t partitions = 1;
	//! Readers may wait for one another: the output is never full, what memory does not hold is spilled.
	bool unbounded = false;
};

//! Where a task would rather run.
struct TaskWish {
	//! The address of the worker that an estimator has chosen; empty: none.
	std::string worker;
	//! Tasks with the same one prefer the same worker; empty: none.
	std::string cache_key;
};

//! A leaf of a stage whose tasks may give units to one another while they run.
struct SharedLeaf {
	//! From 0 in its stage.
	uint64_t number = 0;
	//! By task, how many units it was dealt.
	std::vector<uint64_t> units;
};

//! A piece of a plan that runs as tasks, ready to be sent.
struct StagePlan {
	//! From 1, producers before their consumers.
	uint32_t id = 0;
	uint32_t tasks = 1;
	//! Runs in the session that asked, as a part of the head's own plan.
	bool in_session = false;
	//! One plan per task, as SerializePlan() wrote it; none for a stage in the session.
	std::vector<std::string> task_plans;
	//! By task; empty for a stage in the session.
	std::vector<TaskWish> wishes;
	std::vector<StageInput> inputs;
	std::vector<StageOutput> outputs;
	std::vector<SharedLeaf> shared_leaves;
};

//! A query as it runs on a cluster: what the workers execute and what the head reads. A value, made once by the planner
//! and executed any number of times.
struct DistributedPlan {
	//! By id: stages[i].id == i + 1.
	std::vector<StagePlan> stages;
	//! What the head reads; partition 0 of each.
	std::vector<StageInput> head_inputs;
	//! Session settings that the tasks need.
	std::vector<std::pair<std::string, std::string>> settings;
	PlanOutline outline;
	//! The outline as EXPLAIN shows it.
	std::string text;

	uint32_t TaskCount() const {
		uint32_t count = 0;
		for (auto &stage : stages) {
			count += stage.tasks;
		}
		return count;
	}
};

} // namespace skein
