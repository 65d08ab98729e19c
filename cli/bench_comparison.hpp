#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace skein::cli {

//! What a comparison of times comes to.
enum class Mark {
	FASTER,
	//! Chance alone makes such a difference in more than one of a hundred comparisons.
	NOISE,
	SLOWER,
	//! So few times that no difference could be told from chance.
	TOO_FEW,
	//! One of the two has no times, or not those of the right answer.
	NOT_COMPARED
};

//! One query in two reports, or all of them together.
struct Comparison {
	std::string query;
	//! Medians in milliseconds; of the total, their sums.
	double before_ms = 0;
	double after_ms = 0;
	//! Half of the distance between the quartiles, as a share of the median.
	double before_spread = 0;
	double after_spread = 0;
	//! How likely chance alone makes such a difference.
	double p = 1;
	Mark mark = Mark::NOT_COMPARED;
	//! What else there is to say, such as "failed in B".
	std::vector<std::string> remarks;

	double Ratio() const {
		return after_ms / before_ms;
	}
};

//! Two reports of `bench --out`, query by query.
//!
//! A query is compared by the times of its runs, with the rank-sum test; the total by the medians of the queries, in
//! pairs, with the signed-rank test of their ratios. A difference is clear if chance alone makes it in less than one of
//! a hundred comparisons.
class BenchComparison {
public:
	static constexpr double SIGNIFICANCE = 0.01;

	//! Throws nlohmann::json::exception if one is no such report.
	BenchComparison(const nlohmann::json &before, const nlohmann::json &after);

	//! What makes the times of the two incomparable: other data, another scale, another machine; each in one line.
	std::vector<std::string> Obstacles() const;
	//! What else is different: versions, workers, settings. May be what the comparison is about.
	std::vector<std::string> Differences() const;

	//! In the order of the first report; what only the second has follows.
	const std::vector<Comparison> &Queries() const {
		return queries_;
	}
	//! Of the queries that are compared.
	const Comparison &Total() const {
		return total_;
	}

private:
	void AddQuery(const nlohmann::json *before, const nlohmann::json *after);
	void AddTotal();
	//! One line for each key of which the two have different values.
	std::vector<std::string> DifferencesIn(const std::vector<std::string> &keys) const;

	nlohmann::json before_;
	nlohmann::json after_;
	std::vector<Comparison> queries_;
	Comparison total_;
};

//! What is wrong with the times of a report, such as one below 0; empty if nothing is. Throws as BenchComparison.
std::string ImpossibleTime(const nlohmann::json &report);

} // namespace skein::cli
