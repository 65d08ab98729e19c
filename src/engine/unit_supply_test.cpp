#include "engine/unit_supply.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

namespace skein {
namespace {

std::vector<uint64_t> ClaimAll(UnitSupply &supply, uint64_t units) {
	std::vector<uint64_t> claimed;
	for (uint64_t unit = 0; unit < units; unit++) {
		if (supply.Claim(unit)) {
			claimed.push_back(unit);
		}
	}
	return claimed;
}

TEST(UnitSupply, ReleasesHalfOfWhatIsLeftFromTheEnd) {
	UnitSupply supply(9);
	EXPECT_TRUE(supply.Claim(0));
	auto range = supply.Release(1);
	EXPECT_EQ(range.begin, 5u);
	EXPECT_EQ(range.end, 9u);
	EXPECT_EQ(supply.Left(), 4u);
	EXPECT_FALSE(supply.Claim(5));
	EXPECT_EQ(ClaimAll(supply, 9), (std::vector<uint64_t>{0, 1, 2, 3, 4}));
	EXPECT_EQ(supply.Release(1).Count(), 0u);
	EXPECT_TRUE(supply.IsEmpty());
}

TEST(UnitsToGive, IsHalfIfBothAreEquallyFast) {
	const std::vector<uint64_t> expected{0, 1, 1, 2, 2, 3, 3, 4, 4};
	for (uint64_t left = 0; left < expected.size(); left++) {
		EXPECT_EQ(UnitsToGive(left, {}), expected[left]) << left;
	}
}

TEST(UnitsToGive, EndsBothAtOneTime) {
	// Four times faster than the owner: all that is done before the owner is done with the unit that it has begun.
	EXPECT_EQ(UnitsToGive(2, {4, 1}), 2u);
	EXPECT_EQ(UnitsToGive(100, {4, 1}), 81u);
	// Four times slower, none that the owner has done sooner.
	EXPECT_EQ(UnitsToGive(1, {1, 4}), 0u);
	EXPECT_EQ(UnitsToGive(2, {1, 4}), 0u);
	EXPECT_EQ(UnitsToGive(100, {1, 4}), 20u);
}

TEST(UnitsToGive, LeavesTheLastToItsOwnerIfTheOtherHasOneAsWell) {
	EXPECT_EQ(UnitsToGive(1, {1, 1, 1}), 0u);
	EXPECT_EQ(UnitsToGive(2, {1, 1, 1}), 1u);
	EXPECT_EQ(UnitsToGive(100, {1, 1, 1}), 50u);
	EXPECT_EQ(UnitsToGive(1, {4, 1, 1}), 1u);
}

TEST(UnitsToGive, IsTheBestOfAllNumbers) {
	for (double owner : {0.01, 0.3, 1.0, 3.0, 700.0}) {
		for (double taker_has : {0.0, 1.0}) {
			for (uint64_t left = 0; left < 50; left++) {
				auto until_done = [&](uint64_t given) {
					auto taker = given == 0 ? 0 : static_cast<double>(given) + taker_has;
					return std::max(taker, (static_cast<double>(left - given) + 0.5) * owner);
				};
				auto given = UnitsToGive(left, {owner, 1, taker_has});
				ASSERT_LE(given, left);
				for (uint64_t other = 0; other <= left; other++) {
					EXPECT_LE(until_done(given), until_done(other)) << left << " left, " << owner << ", not " << other;
				}
			}
		}
	}
}

TEST(UnitSupply, ReleasesTheLastUnit) {
	UnitSupply supply(1);
	EXPECT_EQ(supply.Release(1).Count(), 1u);
	EXPECT_FALSE(supply.Claim(0));
	EXPECT_FALSE(supply.Has(0));
}

TEST(UnitSupply, ReleasesNothingIfTooLittleIsLeft) {
	UnitSupply supply(4);
	EXPECT_EQ(supply.Release(5).Count(), 0u);
	EXPECT_EQ(supply.Left(), 4u);
}

TEST(UnitSupply, AnEarlierUnitMayBeClaimedAfterALaterOne) {
	UnitSupply supply(4);
	EXPECT_TRUE(supply.Claim(2));
	auto range = supply.Release(1);
	EXPECT_EQ(range.begin, 3u);
	EXPECT_TRUE(supply.Claim(1));
}

TEST(UnitSupply, NothingLeavesAClosedSupply) {
	UnitSupply supply(4);
	supply.Close();
	EXPECT_FALSE(supply.Claim(0));
	EXPECT_EQ(supply.Release(1).Count(), 0u);
	EXPECT_TRUE(supply.IsEmpty());
	EXPECT_EQ(supply.Left(), 0u);
}

//! A task with threads that claim, and others that take units away and share them out anew, again and again: every unit
//! is read once.
class UnitSupplySharing : public testing::TestWithParam<uint32_t> {};

TEST_P(UnitSupplySharing, EveryUnitIsReadExactlyOnce) {
	std::mt19937 random(GetParam());
	auto units = std::uniform_int_distribution<uint64_t>(1, 2000)(random);
	auto readers = std::uniform_int_distribution<size_t>(1, 4)(random);
	auto takers = std::uniform_int_distribution<size_t>(1, 4)(random);
	std::vector<std::atomic<int>> read(units);
	UnitSupply supply(units);
	std::atomic<uint64_t> next{0};
	std::vector<std::thread> threads;
	for (size_t i = 0; i < readers; i++) {
		threads.emplace_back([&]() {
			for (auto unit = next++; unit < units; unit = next++) {
				read[unit] += supply.Claim(unit) ? 1 : 0;
			}
		});
	}
	for (size_t i = 0; i < takers; i++) {
		threads.emplace_back([&]() {
			// What was taken is a supply of its own, of which the rest is taken again.
			for (auto range = supply.Release(1); range.Count() > 0; range = supply.Release(1)) {
				UnitSupply own(range.Count());
				auto again = own.Release(1);
				for (uint64_t unit = 0; unit < range.Count(); unit++) {
					auto claimed = own.Claim(unit);
					EXPECT_EQ(claimed, unit < again.begin);
					read[range.begin + unit] += claimed ? 1 : 0;
				}
				for (uint64_t unit = again.begin; unit < again.end; unit++) {
					read[range.begin + unit]++;
				}
			}
		});
	}
	for (auto &thread : threads) {
		thread.join();
	}
	for (uint64_t unit = 0; unit < units; unit++) {
		EXPECT_EQ(read[unit], 1) << "unit " << unit << " of " << units;
	}
}

INSTANTIATE_TEST_SUITE_P(Seeds, UnitSupplySharing, testing::Range(0U, 200U));

} // namespace
} // namespace skein
