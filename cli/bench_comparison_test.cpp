#include "bench_comparison.hpp"

#include <gtest/gtest.h>

namespace skein::cli {
namespace {

using nlohmann::json;

const std::vector<double> FAST{10, 11, 12, 13, 14};
const std::vector<double> SLOW{20, 21, 22, 23, 24};

json Query(const std::string &name, const std::vector<double> &times) {
	return {{"query", name}, {"distributed_ms", times}, {"equal", true}, {"distributed", true}, {"error", nullptr}};
}

json Report(std::vector<json> queries) {
	return {{"suite", "tpch"},
			{"scale", 1.0},
			{"rows", 8661245},
			{"machine", {{"cpu", "some"}, {"cores", 2}, {"memory_bytes", 1000}, {"system", "Linux"}}},
			{"versions", {{"skein", "0.1.0"}, {"duckdb", "v1"}}},
			{"config", {{"workers", 4}, {"runs", 5}, {"settings", json::object()}}},
			{"queries", std::move(queries)}};
}

//! The comparison of one query.
Comparison Compare(const json &before, const json &after) {
	return BenchComparison(Report({before}), Report({after})).Queries().at(0);
}

TEST(BenchComparisonTest, TellsClearDifferencesFromNoise) {
	auto slower = Compare(Query("q1", FAST), Query("q1", SLOW));
	EXPECT_EQ(slower.mark, Mark::SLOWER);
	EXPECT_DOUBLE_EQ(slower.before_ms, 12);
	EXPECT_DOUBLE_EQ(slower.after_ms, 22);
	EXPECT_DOUBLE_EQ(slower.Ratio(), 22.0 / 12);
	EXPECT_DOUBLE_EQ(slower.before_spread, 1.0 / 12);
	EXPECT_TRUE(slower.remarks.empty());
	EXPECT_EQ(Compare(Query("q1", SLOW), Query("q1", FAST)).mark, Mark::FASTER);
	// Twice as slow in the median, but as often faster.
	auto noisy = Compare(Query("q1", {10, 11, 12, 30, 31}), Query("q1", {9, 13, 24, 25, 26}));
	EXPECT_EQ(noisy.mark, Mark::NOISE);
	EXPECT_EQ(Compare(Query("q1", FAST), Query("q1", FAST)).mark, Mark::NOISE);
}

TEST(BenchComparisonTest, TooFewRunsTellNothing) {
	EXPECT_EQ(Compare(Query("q1", {1, 2, 3}), Query("q1", {100, 200, 300})).mark, Mark::TOO_FEW);
	// A single time on one side is enough with very many on the other.
	EXPECT_EQ(Compare(Query("q1", std::vector<double>(300, 1)), Query("q1", {2})).mark, Mark::SLOWER);
}

TEST(BenchComparisonTest, SaysWhatFailedOrGaveAnotherResult) {
	auto failed = Query("q1", {10, 11});
	failed["error"] = "Out of Memory";
	auto wrong = Query("q1", FAST);
	wrong["error"] = "row 1 is not expected";
	wrong["equal"] = false;
	auto alone = Query("q1", SLOW);
	alone["distributed"] = false;

	auto with_failure = Compare(failed, Query("q1", FAST));
	EXPECT_EQ(with_failure.mark, Mark::NOT_COMPARED);
	EXPECT_EQ(with_failure.remarks, std::vector<std::string>{"failed in A"});
	auto with_error = Compare(Query("q1", FAST), wrong);
	EXPECT_EQ(with_error.mark, Mark::NOT_COMPARED);
	EXPECT_EQ(with_error.remarks, std::vector<std::string>{"another result in B"});
	auto not_distributed = Compare(Query("q1", FAST), alone);
	EXPECT_EQ(not_distributed.mark, Mark::SLOWER);
	EXPECT_EQ(not_distributed.remarks, std::vector<std::string>{"not distributed in B"});
	EXPECT_EQ(Compare(failed, wrong).remarks, (std::vector<std::string>{"failed in A", "another result in B"}));
}

TEST(BenchComparisonTest, QueriesOfOneReportAloneAreNamed) {
	BenchComparison comparison(Report({Query("q1", FAST), Query("q2", FAST)}),
							   Report({Query("q3", FAST), Query("q2", FAST)}));
	ASSERT_EQ(comparison.Queries().size(), 3U);
	EXPECT_EQ(comparison.Queries()[0].remarks, std::vector<std::string>{"missing in B"});
	EXPECT_EQ(comparison.Queries()[1].mark, Mark::NOISE);
	EXPECT_EQ(comparison.Queries()[2].remarks, std::vector<std::string>{"missing in A"});
	EXPECT_DOUBLE_EQ(comparison.Total().before_ms, 12);
}

//! Reports of `count` queries; times of the second are those of the first times `factor(i)`.
template <class FACTOR>
Comparison TotalOf(int count, FACTOR factor) {
	std::vector<json> before;
	std::vector<json> after;
	for (int i = 0; i < count; i++) {
		auto times = FAST;
		before.push_back(Query("q" + std::to_string(i), times));
		for (auto &time : times) {
			time *= factor(i);
		}
		after.push_back(Query("q" + std::to_string(i), times));
	}
	return BenchComparison(Report(before), Report(after)).Total();
}

TEST(BenchComparisonTest, TheTotalComparesTheQueriesInPairs) {
	// Each alone is within noise, all together are clear.
	auto clear = TotalOf(8, [](int i) { return 1.02 + i * 0.001; });
	EXPECT_EQ(clear.mark, Mark::SLOWER);
	EXPECT_NEAR(clear.Ratio(), 1.0235, 1e-9);
	EXPECT_EQ(TotalOf(8, [](int i) { return 0.98 - i * 0.001; }).mark, Mark::FASTER);
	EXPECT_EQ(TotalOf(8, [](int i) { return i % 2 ? 1.02 : 0.98; }).mark, Mark::NOISE);
	EXPECT_EQ(TotalOf(7, [](int) { return 2; }).mark, Mark::TOO_FEW);
}

TEST(BenchComparisonTest, ReportsOfOtherDataOrMachinesAreObstacles) {
	auto report = Report({Query("q1", FAST)});
	EXPECT_TRUE(BenchComparison(report, report).Obstacles().empty());
	for (std::string key : {"suite", "scale", "rows"}) {
		auto other = report;
		other[key] = 17;
		auto obstacles = BenchComparison(report, other).Obstacles();
		ASSERT_EQ(obstacles.size(), 1U) << key;
		EXPECT_EQ(obstacles[0].find(key + ": "), 0U) << obstacles[0];
	}
	auto other = report;
	other["machine"]["cores"] = 4;
	EXPECT_EQ(BenchComparison(report, other).Obstacles(), std::vector<std::string>{"machine.cores: 2 in A, 4 in B"});
	EXPECT_TRUE(BenchComparison(report, other).Differences().empty());
}

TEST(BenchComparisonTest, OtherWorkersVersionsAndSettingsAreDifferences) {
	auto report = Report({Query("q1", FAST)});
	auto other = report;
	other["config"]["workers"] = 2;
	other["config"]["settings"]["skein_join"] = "shuffle";
	other["versions"]["skein"] = "0.2.0";
	BenchComparison comparison(report, other);
	EXPECT_TRUE(comparison.Obstacles().empty());
	EXPECT_EQ(
		comparison.Differences(),
		(std::vector<std::string>{R"(versions.skein: "0.1.0" in A, "0.2.0" in B)", "config.workers: 4 in A, 2 in B",
								  R"(config.settings: {} in A, {"skein_join":"shuffle"} in B)"}));
}

TEST(BenchComparisonTest, RefusesWhatIsNoReport) {
	auto report = Report({Query("q1", FAST)});
	EXPECT_THROW(BenchComparison(report, json::object()), json::exception);
	EXPECT_THROW(BenchComparison(json::array({1}), report), json::exception);
	EXPECT_THROW(BenchComparison(report, Report({{{"query", "q1"}}})), json::exception);
}

TEST(BenchComparisonTest, FindsTimesThatCannotBe) {
	EXPECT_EQ(ImpossibleTime(Report({Query("q1", FAST), Query("q2", {}), Query("q3", {0.001})})), "");
	EXPECT_EQ(ImpossibleTime(Report({Query("q1", FAST), Query("q2", {1, 0})})), "query q2 took 0.0 ms");
	EXPECT_EQ(ImpossibleTime(Report({Query("q1", {1, -2.5})})), "query q1 took -2.5 ms");
}

} // namespace
} // namespace skein::cli
