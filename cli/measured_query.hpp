#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace skein::cli {

//! Rows that the tasks of one stage, or the head, read of another stage.
struct MeasuredInput {
	//! The stage that sends them.
	uint32_t stage = 0;
	//! Of all its tasks together.
	double bytes = 0;
	//! By reading task, which share of them it got; their sum is 1.
	std::vector<double> shares;
};

struct MeasuredStage {
	uint32_t id = 0;
	//! By task, processor time; a stage in the session has one task of 0, as its time is a part of the session's.
	std::vector<double> cpu_s;
	//! By task, its share of what the stage sends; their sum is 1.
	std::vector<double> sent_shares;
	std::vector<MeasuredInput> inputs;

	double CpuSeconds() const;
};

//! What the parts of a distributed query used, each as if it ran alone.
struct MeasuredQuery {
	//! Processor time of the session's own thread: planning, sending plans, the head.
	double session_s = 0;
	//! By id, from 1; producers before their consumers.
	std::vector<MeasuredStage> stages;
	std::vector<MeasuredInput> head_inputs;

	double TaskSeconds() const;
	double Bytes() const;

	//! Reads what EXPLAIN (ANALYZE, FORMAT json) says of a distributed query. `total_cpu_s` is of all processes; what
	//! of it belongs neither to the session nor to a task, such as messages, is dealt to all tasks alike. Throws
	//! nlohmann::json::exception if it is no such report.
	static MeasuredQuery From(const nlohmann::json &report, double session_cpu_s, double total_cpu_s);
};

} // namespace skein::cli
