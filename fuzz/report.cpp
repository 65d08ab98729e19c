#include "fuzz/report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <vector>

namespace skein::fuzz {
namespace {

constexpr char SEPARATOR = '\t';
constexpr size_t MAX_TEXT = 160;
constexpr size_t MAX_REASONS = 12;

std::string OneLine(std::string text) {
	text = text.substr(0, std::min(text.find('\n'), MAX_TEXT));
	std::replace(text.begin(), text.end(), SEPARATOR, ' ');
	return text;
}

void PrintMost(std::ostream &out, const char *title, const std::map<std::string, uint64_t> &counts) {
	std::vector<std::pair<uint64_t, std::string>> sorted;
	for (auto &[text, count] : counts) {
		sorted.emplace_back(count, text);
	}
	std::sort(sorted.rbegin(), sorted.rend());
	if (!sorted.empty()) {
		out << title << '\n';
	}
	for (size_t i = 0; i < std::min(sorted.size(), MAX_REASONS); i++) {
		out << std::setw(9) << sorted[i].first << "  " << sorted[i].second << '\n';
	}
}

} // namespace

std::string SeedResult::Line() const {
	std::stringstream line;
	line << seed << SEPARATOR << static_cast<int>(verdict) << SEPARATOR << distributed << SEPARATOR << features
		 << SEPARATOR << OneLine(local_reason) << SEPARATOR << OneLine(what);
	return line.str();
}

SeedResult SeedResult::Parse(const std::string &line) {
	std::stringstream stream(line);
	auto next = [&] {
		std::string field;
		std::getline(stream, field, SEPARATOR);
		return field;
	};
	SeedResult result;
	result.seed = std::stoull(next());
	result.verdict = static_cast<Verdict>(std::stoi(next()));
	result.distributed = next() == "1";
	result.features = FeatureSet(next());
	result.local_reason = next();
	result.what = next();
	return result;
}

void Report::Add(const SeedResult &result) {
	queries_++;
	verdicts_[result.verdict]++;
	if (result.verdict == Verdict::EQUAL_ERROR || result.verdict == Verdict::SKIPPED) {
		equal_errors_[result.what]++;
	} else {
		distributed_ += result.distributed;
		if (!result.distributed) {
			local_reasons_[result.local_reason]++;
		}
	}
	for (size_t feature = 0; feature < FEATURE_COUNT; feature++) {
		features_[feature] += result.features[feature];
		distributed_features_[feature] +=
			result.features[feature] && result.distributed && result.verdict != Verdict::EQUAL_ERROR;
	}
}

uint64_t Report::Findings() const {
	auto count = [&](Verdict verdict) {
		auto found = verdicts_.find(verdict);
		return found == verdicts_.end() ? 0 : found->second;
	};
	return count(Verdict::DIFFERENT) + count(Verdict::HANG) + crashes_;
}

void Report::Print(std::ostream &out, double seconds) const {
	out << "features: how many queries have each, and how many of these were distributed\n";
	size_t missing = 0;
	for (size_t feature = 0; feature < FEATURE_COUNT; feature++) {
		missing += features_[feature] == 0;
		std::stringstream cell;
		cell << FeatureName(feature) << ' ' << features_[feature] << '/' << distributed_features_[feature];
		out << "  " << std::left << std::setw(38) << cell.str() << std::right << (feature % 3 == 2 ? "\n" : "");
	}
	out << '\n';
	PrintMost(out, "fails alike, or skipped:", equal_errors_);
	PrintMost(out, "not distributed:", local_reasons_);
	out << queries_ << " queries in " << std::fixed << std::setprecision(1) << seconds << " s, "
		<< static_cast<double>(queries_) / std::max(seconds, 0.001) << " a second; " << FEATURE_COUNT - missing
		<< " of " << FEATURE_COUNT << " features; distributed " << distributed_;
	for (auto &[verdict, count] : verdicts_) {
		out << ", " << VerdictName(verdict) << ' ' << count;
	}
	out << ", crashed " << crashes_ << std::endl;
}

} // namespace skein::fuzz
