#pragma once

#include "fuzz/contest.hpp"
#include "fuzz/feature.hpp"

#include <array>
#include <iosfwd>
#include <map>
#include <string>

namespace skein::fuzz {

//! What became of one seed, as the process that ran it tells the one that counts.
struct SeedResult {
	uint64_t seed = 0;
	Verdict verdict = Verdict::EQUAL;
	bool distributed = false;
	std::string local_reason;
	std::string what;
	FeatureSet features;

	//! One line without its end.
	std::string Line() const;
	static SeedResult Parse(const std::string &line);
};

//! Counts what was run.
class Report {
public:
	void Add(const SeedResult &result);
	void AddCrash() {
		crashes_++;
	}
	uint64_t Queries() const {
		return queries_;
	}
	//! Differences, hangs and crashes.
	uint64_t Findings() const;
	//! Writes all numbers. `seconds`: how long it took.
	void Print(std::ostream &out, double seconds) const;

private:
	uint64_t queries_ = 0;
	uint64_t crashes_ = 0;
	uint64_t distributed_ = 0;
	std::map<Verdict, uint64_t> verdicts_;
	std::map<std::string, uint64_t> local_reasons_;
	std::map<std::string, uint64_t> equal_errors_;
	std::array<uint64_t, FEATURE_COUNT> features_{};
	//! Those of them whose query had an answer and was distributed.
	std::array<uint64_t, FEATURE_COUNT> distributed_features_{};
};

} // namespace skein::fuzz
