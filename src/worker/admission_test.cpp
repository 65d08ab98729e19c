#include "worker/admission.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using Started = std::vector<std::string>;

class AdmissionTest : public testing::Test {
protected:
	WaitingTask Task(const std::string &query, uint32_t stage, uint32_t task, std::set<uint32_t> inputs = {}) {
		auto name = query + std::to_string(stage) + "." + std::to_string(task);
		return {{query, 0}, stage, task, std::move(inputs), [this, name]() { started.push_back(name); }};
	}
	Admission Make(size_t slots) {
		return Admission(slots, [this](auto &tasks) { reported += tasks.size(); });
	}

	Started started;
	size_t reported = 0;
};

TEST_F(AdmissionTest, WithoutSlotsEverythingStartsAtOnce) {
	auto admission = Make(0);
	admission.Add({Task("q", 1, 0), Task("q", 2, 0, {1})});
	EXPECT_EQ(started, (Started{"q1.0", "q2.0"}));
	EXPECT_EQ(reported, 2U);
	EXPECT_EQ(admission.Running(), 2U);
}

TEST_F(AdmissionTest, NoMoreThanTheSlotsRun) {
	auto admission = Make(2);
	admission.Add({Task("q", 1, 0), Task("q", 1, 1), Task("q", 1, 2)});
	EXPECT_EQ(started, (Started{"q1.0", "q1.1"}));
	EXPECT_EQ(admission.Waiting(), 1U);
	admission.TaskEnded();
	EXPECT_EQ(started.size(), 3U);
	EXPECT_EQ(admission.Running(), 2U);
	EXPECT_EQ(admission.Waiting(), 0U);
}

TEST_F(AdmissionTest, AConsumerWaitsForAllThatItReadsThoughThereIsASlot) {
	auto admission = Make(2);
	admission.Add({Task("q", 3, 0, {1, 2})});
	EXPECT_TRUE(started.empty());
	admission.StagesStarted({"q", 0}, {1});
	EXPECT_TRUE(started.empty());
	admission.StagesStarted({"q", 0}, {2});
	EXPECT_EQ(started, Started{"q3.0"});
}

TEST_F(AdmissionTest, ATaskThatCannotStartLetsOthersPass) {
	auto admission = Make(1);
	admission.Add({Task("a", 2, 0, {1})});
	admission.Add({Task("b", 1, 0)});
	EXPECT_EQ(started, Started{"b1.0"});
	admission.StagesStarted({"a", 0}, {1});
	EXPECT_EQ(started.size(), 1U);
	admission.TaskEnded();
	EXPECT_EQ(started, (Started{"b1.0", "a2.0"}));
}

TEST_F(AdmissionTest, AStartOfAnotherAttemptDoesNotCount) {
	auto admission = Make(1);
	admission.Add({Task("q", 2, 0, {1})});
	admission.StagesStarted({"q", 1}, {1});
	EXPECT_TRUE(started.empty());
}

TEST_F(AdmissionTest, AQueryThatEndsGetsRidOfWhatWaits) {
	auto admission = Make(1);
	admission.Add({Task("a", 1, 0), Task("a", 1, 1), Task("b", 1, 0)});
	admission.Release({"a", 0});
	EXPECT_EQ(started, (Started{"a1.0", "a1.1"}));
	EXPECT_EQ(admission.Running(), 2U);
	admission.TaskEnded();
	EXPECT_EQ(started.size(), 2U);
	admission.TaskEnded();
	EXPECT_EQ(started.back(), "b1.0");
	EXPECT_EQ(admission.WaitingOf({"b", 0}).size(), 0U);
}

} // namespace
} // namespace skein
