#include "rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace skein::cli {
namespace {

//! Ranks of values, from 1, equal values sharing the mean of theirs; times two, so that they are whole numbers.
struct Ranks {
	std::vector<size_t> doubled;
	//! The sum over groups of equal values of t^3 - t.
	double ties = 0;
};

Ranks RankAll(const std::vector<double> &values) {
	std::vector<size_t> order(values.size());
	std::iota(order.begin(), order.end(), size_t(0));
	std::sort(order.begin(), order.end(), [&](size_t left, size_t right) { return values[left] < values[right]; });
	Ranks result;
	result.doubled.resize(values.size());
	for (size_t begin = 0; begin < order.size();) {
		auto end = begin + 1;
		while (end < order.size() && values[order[end]] == values[order[begin]]) {
			end++;
		}
		for (auto i = begin; i < end; i++) {
			// The mean of begin + 1 to end.
			result.doubled[order[i]] = begin + 1 + end;
		}
		auto count = static_cast<double>(end - begin);
		result.ties += count * count * count - count;
		begin = end;
	}
	return result;
}

//! Of a normal distribution, the share that lies as far from the mean as `distance`, to either side.
double NormalP(double distance, double variance) {
	return variance > 0 ? std::erfc(distance / std::sqrt(2 * variance)) : 1;
}

//! The share of `ways`, by sum, whose sum is as far from `mean` as `sum` is. All are doubled.
double ShareAsFar(const std::vector<double> &ways, double sum, double mean) {
	double all = 0;
	double as_far = 0;
	for (size_t i = 0; i < ways.size(); i++) {
		all += ways[i];
		if (std::abs(static_cast<double>(i) - mean) >= std::abs(sum - mean)) {
			as_far += ways[i];
		}
	}
	return as_far / all;
}

//! By sum, in how many ways `count` of the ranks add up to it.
std::vector<double> WaysToChoose(const std::vector<size_t> &ranks, size_t count) {
	auto most = std::accumulate(ranks.begin(), ranks.end(), size_t(0));
	std::vector<std::vector<double>> ways(count + 1, std::vector<double>(most + 1, 0));
	ways[0][0] = 1;
	for (auto rank : ranks) {
		for (auto chosen = count; chosen > 0; chosen--) {
			for (auto sum = most; sum + 1 > rank; sum--) {
				ways[chosen][sum] += ways[chosen - 1][sum - rank];
			}
		}
	}
	return ways[count];
}

//! By sum, in how many ways any of the ranks add up to it.
std::vector<double> WaysToSign(const std::vector<size_t> &ranks) {
	auto most = std::accumulate(ranks.begin(), ranks.end(), size_t(0));
	std::vector<double> ways(most + 1, 0);
	ways[0] = 1;
	for (auto rank : ranks) {
		for (auto sum = most; sum + 1 > rank; sum--) {
			ways[sum] += ways[sum - rank];
		}
	}
	return ways;
}

} // namespace

double RankSumP(const std::vector<double> &left, const std::vector<double> &right) {
	if (left.empty() || right.empty()) {
		return 1;
	}
	auto all = left;
	all.insert(all.end(), right.begin(), right.end());
	auto ranks = RankAll(all);
	auto sum = static_cast<double>(std::accumulate(
		ranks.doubled.begin(), ranks.doubled.begin() + static_cast<std::ptrdiff_t>(left.size()), size_t(0)));
	auto n = static_cast<double>(left.size());
	auto m = static_cast<double>(right.size());
	auto mean = n * (n + m + 1);
	if (all.size() <= RANK_SUM_EXACT) {
		return ShareAsFar(WaysToChoose(ranks.doubled, left.size()), sum, mean);
	}
	auto variance = n * m / 12 * (n + m + 1 - ranks.ties / ((n + m) * (n + m - 1)));
	return NormalP(std::abs(sum - mean) / 2, variance);
}

double LeastRankSumP(size_t left, size_t right) {
	double choices = 1;
	for (size_t i = 1; i <= left; i++) {
		choices *= static_cast<double>(right + i) / static_cast<double>(i);
	}
	return std::min(1.0, 2 / choices);
}

double SignedRankP(const std::vector<double> &differences) {
	std::vector<double> sizes;
	std::vector<bool> positive;
	for (auto difference : differences) {
		if (difference != 0) {
			sizes.push_back(std::abs(difference));
			positive.push_back(difference > 0);
		}
	}
	if (sizes.empty()) {
		return 1;
	}
	auto ranks = RankAll(sizes);
	double sum = 0;
	for (size_t i = 0; i < sizes.size(); i++) {
		sum += positive[i] ? static_cast<double>(ranks.doubled[i]) : 0;
	}
	auto n = static_cast<double>(sizes.size());
	auto mean = n * (n + 1) / 2;
	if (sizes.size() <= SIGNED_RANK_EXACT) {
		return ShareAsFar(WaysToSign(ranks.doubled), sum, mean);
	}
	auto variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.ties / 48;
	return NormalP(std::abs(sum - mean) / 2, variance);
}

double LeastSignedRankP(size_t pairs) {
	return pairs == 0 ? 1 : std::ldexp(2.0, -static_cast<int>(std::min<size_t>(pairs, 1000)));
}

} // namespace skein::cli
