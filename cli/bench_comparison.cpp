#include "bench_comparison.hpp"

#include "bench_report.hpp"
#include "rank_test.hpp"

#include <algorithm>
#include <cmath>

namespace skein::cli {
namespace {

using nlohmann::json;

//! The value below which a share of the others lie, between two of them if need be. `values` must not be empty.
double Quantile(std::vector<double> values, double share) {
	std::sort(values.begin(), values.end());
	auto at = share * static_cast<double>(values.size() - 1);
	auto low = static_cast<size_t>(at);
	auto high = std::min(low + 1, values.size() - 1);
	return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

double Spread(const std::vector<double> &times) {
	return (Quantile(times, 0.75) - Quantile(times, 0.25)) / 2 / Median(times);
}

Mark MarkOf(double p, double least_p, double before, double after) {
	if (least_p >= BenchComparison::SIGNIFICANCE) {
		return Mark::TOO_FEW;
	}
	if (p >= BenchComparison::SIGNIFICANCE || before == after) {
		return Mark::NOISE;
	}
	return after < before ? Mark::FASTER : Mark::SLOWER;
}

//! `machine.cpu` is the key `cpu` of the key `machine`.
json ValueAt(const json &report, const std::string &path) {
	auto at = "/" + path;
	std::replace(at.begin(), at.end(), '.', '/');
	json::json_pointer pointer(at);
	return report.contains(pointer) ? report.at(pointer) : json(nullptr);
}

std::vector<double> TimesOf(const json *query) {
	return query ? query->at("distributed_ms").get<std::vector<double>>() : std::vector<double>();
}

//! What is wrong with a query of a report; its times do not count then.
std::string FaultOf(const json *query, const json &report) {
	if (!query) {
		return "missing";
	}
	auto times = TimesOf(query).size();
	if (!ValueAt(*query, "error").is_null()) {
		// A run that fails is the last.
		auto runs = ValueAt(report, "config.runs");
		auto is_complete = runs.is_number() && runs.get<size_t>() == times;
		return is_complete && ValueAt(*query, "equal") == false ? "another result" : "failed";
	}
	return times == 0 ? "not timed" : "";
}

const json *FindQuery(const json &report, const std::string &name) {
	for (auto &query : report.at("queries")) {
		if (query.at("query") == name) {
			return &query;
		}
	}
	return nullptr;
}

} // namespace

BenchComparison::BenchComparison(const json &before, const json &after) : before_(before), after_(after) {
	for (auto &query : before_.at("queries")) {
		AddQuery(&query, FindQuery(after_, query.at("query")));
	}
	for (auto &query : after_.at("queries")) {
		if (!FindQuery(before_, query.at("query"))) {
			AddQuery(nullptr, &query);
		}
	}
	AddTotal();
}

void BenchComparison::AddQuery(const json *before, const json *after) {
	Comparison result;
	result.query = (before ? *before : *after).at("query");
	auto is_comparable = true;
	auto add_remarks = [&](const json *query, const json &report, const std::string &name) {
		auto fault = FaultOf(query, report);
		if (!fault.empty()) {
			result.remarks.push_back(fault + " in " + name);
			is_comparable = false;
		} else if (ValueAt(*query, "distributed") == false) {
			result.remarks.push_back("not distributed in " + name);
		}
	};
	add_remarks(before, before_, "A");
	add_remarks(after, after_, "B");
	if (is_comparable) {
		auto before_times = TimesOf(before);
		auto after_times = TimesOf(after);
		result.before_ms = Median(before_times);
		result.after_ms = Median(after_times);
		result.before_spread = Spread(before_times);
		result.after_spread = Spread(after_times);
		result.p = RankSumP(before_times, after_times);
		auto least_p = LeastRankSumP(before_times.size(), after_times.size());
		result.mark = MarkOf(result.p, least_p, result.before_ms, result.after_ms);
	}
	queries_.push_back(std::move(result));
}

void BenchComparison::AddTotal() {
	std::vector<double> ratios;
	total_.query = "total";
	for (auto &query : queries_) {
		if (query.mark != Mark::NOT_COMPARED) {
			total_.before_ms += query.before_ms;
			total_.after_ms += query.after_ms;
			ratios.push_back(std::log(query.Ratio()));
		}
	}
	if (!ratios.empty()) {
		total_.p = SignedRankP(ratios);
		// Which way most queries went, whatever the longest of them did.
		total_.mark = MarkOf(total_.p, LeastSignedRankP(ratios.size()), 0, Median(ratios));
	}
}

std::string ImpossibleTime(const json &report) {
	for (auto &query : report.at("queries")) {
		for (auto time : TimesOf(&query)) {
			if (!std::isfinite(time) || time <= 0) {
				return "query " + query.at("query").get<std::string>() + " took " + json(time).dump() + " ms";
			}
		}
	}
	return "";
}

std::vector<std::string> BenchComparison::DifferencesIn(const std::vector<std::string> &keys) const {
	std::vector<std::string> result;
	for (auto &key : keys) {
		auto before = ValueAt(before_, key);
		auto after = ValueAt(after_, key);
		if (before != after) {
			result.push_back(key + ": " + before.dump() + " in A, " + after.dump() + " in B");
		}
	}
	return result;
}

std::vector<std::string> BenchComparison::Obstacles() const {
	return DifferencesIn(
		{"suite", "scale", "rows", "machine.cpu", "machine.cores", "machine.memory_bytes", "machine.system"});
}

std::vector<std::string> BenchComparison::Differences() const {
	return DifferencesIn({"versions.skein", "versions.duckdb", "config.cluster", "config.workers", "config.threads",
						  "config.settings", "config.data", "config.runs"});
}

} // namespace skein::cli
