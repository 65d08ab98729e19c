#include "rank_test.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace skein::cli {
namespace {

// The expected values were counted over all permutations, and are those of the published tables where these have them.

TEST(RankTestTest, RankSumOfSamplesApart) {
	EXPECT_DOUBLE_EQ(RankSumP({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 2.0 / 252);
	EXPECT_DOUBLE_EQ(RankSumP({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}), 2.0 / 252);
	EXPECT_DOUBLE_EQ(LeastRankSumP(5, 5), 2.0 / 252);
	EXPECT_DOUBLE_EQ(LeastRankSumP(3, 3), 2.0 / 20);
	EXPECT_DOUBLE_EQ(LeastRankSumP(0, 3), 1);
}

TEST(RankTestTest, RankSumOfMixedSamples) {
	EXPECT_DOUBLE_EQ(RankSumP({1, 2, 4}, {3, 5, 6}), 0.2);
	EXPECT_DOUBLE_EQ(RankSumP({3, 5, 6}, {1, 2, 4}), 0.2);
}

TEST(RankTestTest, RankSumWithTies) {
	EXPECT_DOUBLE_EQ(RankSumP({1, 1, 2}, {1, 2, 2, 3}), 0.4);
	EXPECT_NEAR(RankSumP({10, 12, 9, 11}, {11, 12, 13, 14, 15}), 8.0 / 126, 1e-12);
	EXPECT_DOUBLE_EQ(RankSumP({3, 3, 3}, {3, 3, 3}), 1);
	EXPECT_DOUBLE_EQ(RankSumP({}, {1}), 1);
}

TEST(RankTestTest, RankSumOfManyIsNearlyExact) {
	// Around the limit of what is counted exactly, with the same overlap.
	std::vector<double> left(RANK_SUM_EXACT / 2);
	std::iota(left.begin(), left.end(), 0.0);
	auto right = left;
	for (auto &value : right) {
		value += 12.5;
	}
	auto exact = RankSumP(left, right);
	left.push_back(24.25);
	auto approximate = RankSumP(left, right);
	EXPECT_GT(exact, 1e-5);
	EXPECT_LT(exact, 1e-3);
	EXPECT_NEAR(approximate / exact, 1, 0.3);
}

TEST(RankTestTest, SignedRankOfOneSidedDifferences) {
	EXPECT_DOUBLE_EQ(SignedRankP({1, 2, 3, 4, 5}), 0.0625);
	EXPECT_DOUBLE_EQ(SignedRankP({-1, -2, -3, -4, -5, -6, -7, -8}), 0.0078125);
	EXPECT_DOUBLE_EQ(LeastSignedRankP(8), 0.0078125);
	EXPECT_DOUBLE_EQ(LeastSignedRankP(0), 1);
}

TEST(RankTestTest, SignedRankOfMixedDifferences) {
	EXPECT_DOUBLE_EQ(SignedRankP({-1, 2, -3, 4, 5, 0}), 0.4375);
	EXPECT_DOUBLE_EQ(SignedRankP({1, 1, -1, 2, 2, 3}), 0.125);
	EXPECT_DOUBLE_EQ(SignedRankP({0, 0}), 1);
}

TEST(RankTestTest, SignedRankOfManyIsNearlyExact) {
	std::vector<double> differences;
	for (size_t i = 1; i <= SIGNED_RANK_EXACT; i++) {
		differences.push_back((i % 5 < 2 ? -1.0 : 1.0) * static_cast<double>(i));
	}
	auto exact = SignedRankP(differences);
	differences.push_back(0.5);
	EXPECT_LT(exact, 0.02);
	EXPECT_NEAR(SignedRankP(differences) / exact, 1, 0.3);
}

} // namespace
} // namespace skein::cli
