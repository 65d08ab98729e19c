#include "fuzz/fuzz_loop.hpp"

#include "fuzz/shrinker.hpp"

#include <iostream>

#include <fcntl.h>
#include <unistd.h>

namespace skein::fuzz {
namespace {

//! Errors of one kind that are shrunk.
constexpr size_t MAX_SHRUNK = 2;
//! How often a query is run before it is believed not to differ: threads make some differ only now and then.
constexpr int FIRST_TRIES = 6;
constexpr int FURTHER_TRIES = 2;
constexpr uint64_t CONFIGURATION_STREAM = 1;

} // namespace

std::vector<FuzzConfiguration> ConfigurationsOf(const FuzzOptions &options, uint64_t seed, const FeatureSet &features) {
	if (!options.configurations.empty()) {
		return options.configurations;
	}
	Random random(seed, CONFIGURATION_STREAM);
	std::vector<FuzzConfiguration> result{FuzzConfiguration::Pick(random)};
	if (random.Chance(10)) {
		result.push_back(FuzzConfiguration::Pick(random));
	}
	for (auto &configuration : result) {
		configuration.processes = std::min(configuration.processes, options.contest.processes);
		// What ends early is of interest while outputs are full, and together with other parts in one task.
		if (features[static_cast<size_t>(Feature::UNION_ENDS_EARLY)] && random.Chance(70)) {
			configuration.page = configuration.buffer = "1";
			configuration.workers = random.Chance(50) ? 1 : 2;
		}
	}
	return result;
}

GeneratedQuery QueryOf(const Catalog &catalog, const FuzzOptions &options, uint64_t seed) {
	if (options.sql.empty()) {
		return Generator(catalog, seed).Generate();
	}
	GeneratedQuery query;
	query.sql = options.sql;
	query.row_order = options.row_order;
	return query;
}

void WriteFinding(const FuzzOptions &options, const std::string &text) {
	std::cout << text << std::flush;
	if (options.log.empty()) {
		return;
	}
	auto file = open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
		std::cerr << "cannot write to " << options.log << std::endl;
	}
	close(file);
}

std::string CommandLine(const FuzzOptions &options, uint64_t seed, const FuzzConfiguration &configuration) {
	return options.program + " --seed " + std::to_string(seed) + " --count 1 --config " + configuration.Text();
}

FuzzLoop::FuzzLoop(const FuzzOptions &options, std::function<void(const std::string &)> tell)
	: options_(options), tell_(std::move(tell)), contest_(options.contest) {
}

bool FuzzLoop::Run(uint64_t seed) {
	auto query = QueryOf(catalog_, options_, seed);
	if ((query.features & options_.without).any()) {
		return true;
	}
	for (auto &configuration : ConfigurationsOf(options_, seed, query.features)) {
		auto what = " " + std::to_string(seed) + " " + configuration.Text();
		tell_("alone" + what);
		auto result = contest_.Run(query.sql, query.row_order, configuration, [&]() { tell_("run" + what); });
		if (result.verdict == Verdict::DIFFERENT && !contest_.IsStable(query.sql, query.row_order)) {
			result.verdict = Verdict::UNSTABLE;
			WriteFinding(options_, "unstable: seed " + std::to_string(seed) + ": " + query.sql + "\n");
		}
		if (result.verdict == Verdict::DIFFERENT || result.verdict == Verdict::HANG) {
			ReportDifference(seed, query, configuration, result);
		}
		SeedResult line{seed, result.verdict, result.distributed, result.local_reason, result.what, query.features};
		tell_("end " + line.Line());
		if (contest_.LostWorker()) {
			return false;
		}
	}
	return true;
}

void FuzzLoop::ReportDifference(uint64_t seed, const GeneratedQuery &query, const FuzzConfiguration &configuration,
								const Result &result) {
	auto text = "=== seed " + std::to_string(seed) + ", " + configuration.Text() + ": " + result.what + "\n";
	auto sql = query.sql;
	auto shown = result;
	auto frequent = result.kind != "rows" && result.kind != "order" && kinds_[result.kind]++ >= MAX_SHRUNK;
	if (options_.shrink && !frequent && !contest_.LostWorker()) {
		tell_("shrink " + std::to_string(seed) + " " + configuration.Text());
		sql = Shrink(query, configuration, result, shown);
	}
	text += sql + "\n  reason: " + shown.what + "\n  alone:  " + shown.expected + "\n  skein:  " + shown.actual +
			"\n  again:  " + CommandLine(options_, seed, configuration) + "\n";
	if (sql != query.sql) {
		text += "  before: " + query.sql + "\n";
	}
	WriteFinding(options_, text + "\n");
}

std::string FuzzLoop::Shrink(const GeneratedQuery &query, const FuzzConfiguration &configuration, const Result &result,
							 Result &shrunk) {
	auto tries = FIRST_TRIES;
	auto still_differs = [&](const std::string &sql) {
		for (; tries > 0 && !contest_.LostWorker(); tries--) {
			auto again = contest_.Run(sql, query.row_order, configuration);
			if (again.verdict == result.verdict && again.kind == result.kind &&
				contest_.IsStable(sql, query.row_order)) {
				shrunk = again;
				tries = FURTHER_TRIES;
				return true;
			}
		}
		tries = FURTHER_TRIES;
		return false;
	};
	return Shrinker(contest_.Parser(), options_.shrink_limit).Shrink(query.sql, still_differs);
}

} // namespace skein::fuzz
