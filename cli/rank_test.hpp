#pragma once

#include <vector>

namespace skein::cli {

//! How likely chance alone makes two samples differ as much as these, to either side: the rank-sum test of Mann,
//! Whitney and Wilcoxon. Exact, also with ties, for up to RANK_SUM_EXACT values in all; the normal approximation with a
//! correction for ties beyond. 1 if a sample is empty.
double RankSumP(const std::vector<double> &left, const std::vector<double> &right);

//! The least that RankSumP() can be for samples of these sizes: more than a level of significance means that no
//! difference at all could be significant.
double LeastRankSumP(size_t left, size_t right);

//! How likely chance alone makes the differences of pairs lie as far from 0 as these, to either side: Wilcoxon's
//! signed-rank test. Pairs without a difference do not count. Exact, also with ties, for up to SIGNED_RANK_EXACT pairs;
//! the normal approximation beyond. 1 if there are no differences.
double SignedRankP(const std::vector<double> &differences);

//! The least that SignedRankP() can be for so many differences.
double LeastSignedRankP(size_t pairs);

constexpr size_t RANK_SUM_EXACT = 100;
constexpr size_t SIGNED_RANK_EXACT = 200;

} // namespace skein::cli
