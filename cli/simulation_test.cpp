#include "simulation.hpp"

#include <gtest/gtest.h>

namespace skein::cli {
namespace {

//! 1000 bytes in a second, half a second to every machine, no processor time for it.
const SimulatedNetwork SLOW_NETWORK{1000, 0.5, 0};
//! Takes no time.
const SimulatedNetwork NO_NETWORK{1e18, 0, 0};

MeasuredStage Leaf(uint32_t id, std::vector<double> cpu_s) {
	std::vector<double> shares(cpu_s.size(), 1.0 / static_cast<double>(cpu_s.size()));
	return {id, std::move(cpu_s), shares, {}};
}

MeasuredInput Reads(uint32_t stage, double bytes, std::vector<double> shares) {
	return {stage, bytes, std::move(shares)};
}

TEST(SimulationTest, TasksOfAStageRunSideBySide) {
	MeasuredQuery query{0.25, {Leaf(1, {1, 1, 1, 1})}, {Reads(1, 0, {1})}};
	EXPECT_DOUBLE_EQ(Simulate(query, 4, NO_NETWORK, 4).total_s, 0.25 + 1);
	EXPECT_DOUBLE_EQ(Simulate(query, 2, NO_NETWORK, 4).total_s, 0.25 + 2);
	EXPECT_DOUBLE_EQ(Simulate(query, 1, NO_NETWORK, 4).total_s, 0.25 + 4);
}

TEST(SimulationTest, AStageWaitsForTheSlowestTaskThatItReads) {
	auto join = Leaf(2, {1, 1});
	join.inputs = {Reads(1, 0, {0.5, 0.5})};
	MeasuredQuery query{0, {Leaf(1, {1, 3}), join}, {Reads(2, 0, {1})}};
	auto simulation = Simulate(query, 2, NO_NETWORK, 6);
	EXPECT_DOUBLE_EQ(simulation.total_s, 4);
	EXPECT_DOUBLE_EQ(simulation.stages[1].start_s, 3);
	EXPECT_DOUBLE_EQ(simulation.stages[0].path_s, 3);
	EXPECT_DOUBLE_EQ(simulation.stages[1].path_s, 1);
	EXPECT_EQ(simulation.limit, "stage 1: slowest task 1.5 x the mean");
}

TEST(SimulationTest, StagesThatDoNotDependOnEachOtherShareTheMachines) {
	auto join = Leaf(3, {1, 1});
	join.inputs = {Reads(1, 0, {0.5, 0.5}), Reads(2, 0, {0.5, 0.5})};
	MeasuredQuery query{0, {Leaf(1, {1, 1}), Leaf(2, {2, 2}), join}, {Reads(3, 0, {1})}};
	auto simulation = Simulate(query, 2, NO_NETWORK, 8);
	EXPECT_DOUBLE_EQ(simulation.total_s, 4);
	EXPECT_DOUBLE_EQ(simulation.stages[1].path_s, 2);
	EXPECT_DOUBLE_EQ(simulation.stages[0].path_s, 1);
}

TEST(SimulationTest, RowsForOtherMachinesTakeTime) {
	auto reader = Leaf(2, {1, 1});
	reader.inputs = {Reads(1, 8000, {0.5, 0.5})};
	MeasuredQuery query{0, {Leaf(1, {1, 1}), reader}, {Reads(2, 100, {1})}};
	// Each machine gets 2000 bytes of the other one, from the start of the first task; then 0.5 s until the last is
	// there.
	auto simulation = Simulate(query, 2, SLOW_NETWORK, 4);
	EXPECT_DOUBLE_EQ(simulation.stages[1].start_s, 2.5);
	// 0.5 s for each of: start, rows of stage 2, and its plan before that.
	EXPECT_DOUBLE_EQ(simulation.total_s, 2 * 0.5 + 2.5 + 1 + 0.5);
	EXPECT_DOUBLE_EQ(simulation.stages[0].transfer_s, 1.5);
	EXPECT_EQ(simulation.limit, "stage 1: its rows on the network");
}

TEST(SimulationTest, RowsForOtherMachinesTakeProcessorTime) {
	auto reader = Leaf(2, {1, 1});
	reader.inputs = {Reads(1, 8000, {0.5, 0.5})};
	MeasuredQuery query{0, {Leaf(1, {1, 1}), reader}, {Reads(2, 0, {1})}};
	// 4000 bytes go to another machine; a quarter of it at either end of either way.
	auto simulation = Simulate(query, 2, {1e18, 0, 0.001}, 4);
	EXPECT_DOUBLE_EQ(simulation.network_cpu_s, 4);
	EXPECT_DOUBLE_EQ(simulation.stages[0].cpu_s, 4);
	EXPECT_DOUBLE_EQ(simulation.total_s, 4);
}

TEST(SimulationTest, NamesWhatLimits) {
	auto single = Leaf(2, {5});
	single.inputs = {Reads(1, 0, {1})};
	MeasuredQuery one_task{0, {Leaf(1, {1, 1, 1, 1}), single}, {Reads(2, 0, {1})}};
	EXPECT_EQ(Simulate(one_task, 4, NO_NETWORK, 9).limit, "stage 2: only 1 task");
	MeasuredQuery planning{3, {Leaf(1, {1, 1, 1, 1})}, {Reads(1, 0, {1})}};
	EXPECT_EQ(Simulate(planning, 4, NO_NETWORK, 4).limit, "the session: planning and head");
	MeasuredQuery work{0, {Leaf(1, {2, 2, 2, 2})}, {Reads(1, 0, {1})}};
	EXPECT_EQ(Simulate(work, 4, NO_NETWORK, 4).limit, "the tasks' work: 2.00 x DuckDB's");
}

TEST(SimulationTest, ReadsAReport) {
	auto input = [](uint32_t stage, const std::vector<double> &rows) {
		nlohmann::json result{{"kind", "input"},
							  {"stage", stage},
							  {"output", 0},
							  {"sent", {{"bytes", 600}}},
							  {"children", nlohmann::json::array()},
							  {"tasks", nlohmann::json::array()}};
		for (size_t task = 0; task < rows.size(); task++) {
			result["tasks"].push_back({{"task", task}, {"rows", rows[task]}});
		}
		return result;
	};
	auto task = [](uint32_t number, double cpu_ms, double bytes) {
		return nlohmann::json{{"task", number}, {"cpu_ms", cpu_ms}, {"bytes", bytes}};
	};
	nlohmann::json leaf{{"kind", "leaf"}, {"children", nlohmann::json::array()}};
	nlohmann::json join{{"kind", "operator"}, {"children", {input(1, {10, 30}), leaf}}};
	nlohmann::json report{
		{"plan", {{"kind", "operator"}, {"children", {input(2, {7})}}}},
		{"stages",
		 {{{"stage", 1}, {"tasks", 3}, {"in_session", true}, {"plan", leaf}, {"task_reports", {task(0, 9, 0)}}},
		  {{"stage", 2},
		   {"tasks", 2},
		   {"in_session", false},
		   {"plan", join},
		   {"task_reports", {task(1, 1500, 100), task(0, 500, 300)}}}}}};
	// 2 s of the tasks, 0.25 s of the session, 0.5 s of nobody.
	auto query = MeasuredQuery::From(report, 0.25, 2.75);
	EXPECT_DOUBLE_EQ(query.session_s, 0.25);
	EXPECT_EQ(query.stages[0].cpu_s, std::vector<double>{0});
	EXPECT_EQ(query.stages[1].cpu_s, (std::vector<double>{0.75, 1.75}));
	EXPECT_EQ(query.stages[1].sent_shares, (std::vector<double>{0.75, 0.25}));
	ASSERT_EQ(query.stages[1].inputs.size(), 1U);
	EXPECT_EQ(query.stages[1].inputs[0].shares, (std::vector<double>{0.25, 0.75}));
	EXPECT_DOUBLE_EQ(query.Bytes(), 1200);
}

} // namespace
} // namespace skein::cli
