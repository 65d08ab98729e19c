#include "coordinator/task_routing.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace skein {
namespace {

using Workers = std::vector<std::string>;

const Workers FOUR{"a:1", "b:1", "c:1", "d:1"};

StagePlan Stage(uint32_t id, std::vector<TaskWish> wishes) {
	StagePlan stage;
	stage.id = id;
	stage.tasks = static_cast<uint32_t>(wishes.size());
	stage.wishes = std::move(wishes);
	return stage;
}

std::vector<TaskWish> Keys(size_t tasks, const std::string &prefix) {
	std::vector<TaskWish> wishes;
	for (size_t task = 0; task < tasks; task++) {
		wishes.push_back({"", prefix + std::to_string(task)});
	}
	return wishes;
}

//! Where the tasks of the only stage run.
std::vector<size_t> Route(const StagePlan &stage, const Workers &workers) {
	DistributedPlan plan;
	plan.stages.push_back(stage);
	return RouteTasks(plan, workers)[0];
}

TEST(TaskRouting, WithoutKeysEqualTaskNumbersMeetAndSingleTasksGoRound) {
	DistributedPlan plan;
	plan.stages = {Stage(1, std::vector<TaskWish>(4)), Stage(2, std::vector<TaskWish>(6)),
				   Stage(3, std::vector<TaskWish>(1)), Stage(4, std::vector<TaskWish>(1))};
	auto routes = RouteTasks(plan, FOUR);
	EXPECT_EQ(routes[0], (std::vector<size_t>{0, 1, 2, 3}));
	EXPECT_EQ(routes[1], (std::vector<size_t>{0, 1, 2, 3, 0, 1}));
	// Workers 2 and 3 have one task less.
	EXPECT_EQ(routes[2], (std::vector<size_t>{3}));
	EXPECT_EQ(routes[3], (std::vector<size_t>{2}));
}

TEST(TaskRouting, KeysNeverUnbalanceAStage) {
	for (size_t tasks : {1, 3, 4, 7, 8, 30}) {
		std::map<size_t, size_t> count;
		for (auto worker : Route(Stage(1, Keys(tasks, "part-")), FOUR)) {
			count[worker]++;
		}
		for (size_t worker = 0; worker < FOUR.size(); worker++) {
			EXPECT_GE(count[worker], tasks / 4);
			EXPECT_LE(count[worker], (tasks + 3) / 4);
		}
	}
}

TEST(TaskRouting, AKeyFindsItsWorkerAgainInWhateverOrderWorkersAreNamed) {
	Workers others{"d:1", "b:1", "a:1", "c:1"};
	std::set<std::string> used;
	for (int i = 0; i < 100; i++) {
		auto stage = Stage(1, Keys(1, "file " + std::to_string(i)));
		auto worker = FOUR[Route(stage, FOUR)[0]];
		EXPECT_EQ(others[Route(stage, others)[0]], worker);
		used.insert(worker);
	}
	EXPECT_EQ(used.size(), 4u);
}

TEST(TaskRouting, AWorkerLessMovesOnlyItsOwnKeys) {
	Workers three{"a:1", "c:1", "d:1"};
	for (int i = 0; i < 100; i++) {
		auto stage = Stage(1, Keys(1, "file " + std::to_string(i)));
		auto before = FOUR[Route(stage, FOUR)[0]];
		auto after = three[Route(stage, three)[0]];
		if (before != "b:1") {
			EXPECT_EQ(after, before);
		}
	}
}

TEST(TaskRouting, ChosenWorkersAreTakenUnlessTheyAreLost) {
	auto stage = Stage(1, {{"c:1", ""}, {"c:1", "x"}, {"", ""}, {"", ""}});
	EXPECT_EQ(Route(stage, FOUR), (std::vector<size_t>{2, 2, 3, 0}));
	auto without = Route(stage, {"a:1", "b:1"});
	EXPECT_EQ(std::count(without.begin(), without.end(), 0u), 2);
}

} // namespace
} // namespace skein
