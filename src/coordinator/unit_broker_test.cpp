#include "coordinator/unit_broker.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace skein {
namespace {

constexpr UnitBroker::Leaf LEAF{1, 0};

DistributedPlan PlanOf(std::vector<uint64_t> units) {
	DistributedPlan plan;
	plan.stages.emplace_back();
	plan.stages[0].id = 1;
	plan.stages[0].tasks = static_cast<uint32_t>(units.size());
	plan.stages[0].shared_leaves.push_back({0, std::move(units)});
	return plan;
}

TEST(UnitBroker, AsksTheTaskThatCanHaveMost) {
	UnitBroker broker(PlanOf({4, 9, 6}));
	auto orders = broker.OnWanted(LEAF, 0);
	ASSERT_EQ(orders.releases.size(), 1u);
	EXPECT_EQ(orders.releases[0].task, 1u);
	EXPECT_EQ(orders.releases[0].at_least, 6u);
	EXPECT_TRUE(orders.gives.empty());
}

TEST(UnitBroker, TellsHowFastTheTaskReadsThatWantsUnits) {
	UnitBroker broker(PlanOf({4, 9, 6}));
	broker.OnWanted(LEAF, 0, std::chrono::microseconds(70));
	broker.OnWanted(LEAF, 2, std::chrono::microseconds(80));
	auto orders = broker.OnReleased(LEAF, 1, 4, {5, "slice"});
	ASSERT_EQ(orders.releases.size(), 1u);
	EXPECT_EQ(orders.releases[0].pace, std::chrono::microseconds(80));
}

TEST(UnitBroker, GivesWhatWasReleased) {
	UnitBroker broker(PlanOf({1, 9}));
	broker.OnWanted(LEAF, 0);
	auto orders = broker.OnReleased(LEAF, 1, 3, {2, "slice"});
	ASSERT_EQ(orders.gives.size(), 1u);
	EXPECT_EQ(orders.gives[0].task, 0u);
	EXPECT_EQ(orders.gives[0].parcel.units, 2u);
	EXPECT_EQ(orders.gives[0].parcel.slice, "slice");
	EXPECT_TRUE(orders.releases.empty());
}

TEST(UnitBroker, AsksTheNextWhenOneHasLessThanWasThought) {
	UnitBroker broker(PlanOf({1, 9, 6}));
	broker.OnWanted(LEAF, 0);
	auto orders = broker.OnReleased(LEAF, 1, 2, {});
	ASSERT_EQ(orders.releases.size(), 1u);
	EXPECT_EQ(orders.releases[0].task, 2u);
	EXPECT_EQ(orders.releases[0].at_least, 2u);
}

TEST(UnitBroker, SaysThatNobodyHasUnits) {
	UnitBroker broker(PlanOf({1, 1}));
	broker.OnWanted(LEAF, 0);
	auto orders = broker.OnReleased(LEAF, 1, 0, {});
	ASSERT_EQ(orders.gives.size(), 1u);
	EXPECT_EQ(orders.gives[0].parcel.units, 0u);
	// And asks nobody again.
	orders = broker.OnWanted(LEAF, 1);
	EXPECT_TRUE(orders.releases.empty());
	ASSERT_EQ(orders.gives.size(), 1u);
	EXPECT_EQ(orders.gives[0].task, 1u);
}

TEST(UnitBroker, DoesNotAskATaskThatHasEnded) {
	UnitBroker broker(PlanOf({1, 9}));
	broker.OnTaskEnded(1, 1);
	EXPECT_EQ(broker.OnWanted(LEAF, 0).gives.size(), 1u);
}

TEST(UnitBroker, AnswersForALeafThatItDoesNotKnow) {
	UnitBroker broker(PlanOf({1, 9}));
	EXPECT_EQ(broker.OnWanted({2, 0}, 0).gives.size(), 1u);
}

//! Tasks that read, take and give in any order, with answers that come late.
class UnitBrokerRun : public testing::TestWithParam<uint32_t> {
protected:
	struct Task {
		//! Half-open ranges that nobody has begun, first what it reads next.
		std::deque<uint64_t> units;
		bool waiting = false;
		bool ended = false;
	};
	struct Message {
		bool is_give = false;
		uint32_t task = 0;
		uint64_t at_least = 0;
		std::vector<uint64_t> units;
	};

	void Post(UnitBroker::Orders orders) {
		for (auto &release : orders.releases) {
			messages_.push_back({false, release.task, release.at_least, {}});
		}
		for (auto &give : orders.gives) {
			Message message{true, give.task, 0, {}};
			if (give.parcel.units > 0) {
				message.units = parcels_.at(std::stoul(give.parcel.slice));
				EXPECT_EQ(message.units.size(), give.parcel.units);
			}
			messages_.push_back(std::move(message));
		}
	}

	void Deliver(UnitBroker &broker, const Message &message) {
		auto &task = tasks_[message.task];
		if (message.is_give) {
			EXPECT_TRUE(task.waiting);
			task.waiting = false;
			task.ended = message.units.empty();
			task.units.insert(task.units.end(), message.units.begin(), message.units.end());
			return;
		}
		Parcel parcel;
		auto left = task.units.size();
		if (left > 0 && left >= message.at_least) {
			auto count = std::max<size_t>(1, left / 2);
			parcels_.emplace_back(task.units.end() - static_cast<std::ptrdiff_t>(count), task.units.end());
			task.units.resize(left - count);
			parcel = {count, std::to_string(parcels_.size() - 1)};
		}
		Post(broker.OnReleased(LEAF, message.task, task.units.size(), parcel));
	}

	std::vector<Task> tasks_;
	std::vector<Message> messages_;
	std::vector<std::vector<uint64_t>> parcels_;
};

TEST_P(UnitBrokerRun, EveryUnitIsReadOnceAndEveryTaskEnds) {
	std::mt19937 random(GetParam());
	auto up_to = [&](uint64_t most) { return std::uniform_int_distribution<uint64_t>(0, most)(random); };
	tasks_.resize(1 + up_to(6));
	std::vector<uint64_t> dealt;
	uint64_t total = 0;
	for (auto &task : tasks_) {
		dealt.push_back(up_to(20));
		for (uint64_t i = 0; i < dealt.back(); i++) {
			task.units.push_back(total++);
		}
	}
	UnitBroker broker(PlanOf(dealt));
	std::multiset<uint64_t> read;
	size_t steps = 0;
	auto all_ended = [&]() { return std::all_of(tasks_.begin(), tasks_.end(), [](auto &it) { return it.ended; }); };
	while (!all_ended()) {
		ASSERT_LT(steps++, 100000u) << "no end";
		if (!messages_.empty() && up_to(2) == 0) {
			// In any order: they come over different links.
			auto at = messages_.begin() + static_cast<std::ptrdiff_t>(up_to(messages_.size() - 1));
			auto message = *at;
			messages_.erase(at);
			Deliver(broker, message);
			continue;
		}
		auto number = static_cast<uint32_t>(up_to(tasks_.size() - 1));
		auto &task = tasks_[number];
		if (!task.units.empty()) {
			read.insert(task.units.front());
			task.units.pop_front();
		} else if (!task.waiting && !task.ended) {
			task.waiting = true;
			Post(broker.OnWanted(LEAF, number));
		}
	}
	EXPECT_TRUE(messages_.empty());
	EXPECT_EQ(read.size(), total);
	EXPECT_EQ(std::set<uint64_t>(read.begin(), read.end()).size(), total);
}

INSTANTIATE_TEST_SUITE_P(Seeds, UnitBrokerRun, testing::Range(0U, 500U));

} // namespace
} // namespace skein
