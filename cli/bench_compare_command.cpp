#include "bench_report.hpp"
#include "commands.hpp"
#include "sql_input.hpp"

#include <iomanip>
#include <iostream>
#include <map>

namespace skein::cli {
namespace {

struct CompareOptions {
	std::string before;
	std::string after;
};

//! One query's median in a report of bench.
struct QueryTime {
	std::string query;
	double milliseconds = 0;
};

//! Reads what `bench --out` has written. Throws CommandError (wrong usage) when the file holds anything else.
std::vector<QueryTime> ReadTimes(const std::string &path) {
	auto text = ReadFile(path);
	try {
		auto report = nlohmann::json::parse(text);
		std::vector<QueryTime> times;
		for (auto &query : report.at("queries")) {
			times.push_back(
				{query.at("query").get<std::string>(), Median(query.at("distributed_ms").get<std::vector<double>>())});
		}
		return times;
	} catch (const nlohmann::json::exception &) {
		throw CommandError(ExitCode::WRONG_USAGE, "'" + path + "' is no report of skein bench");
	}
}

void PrintLine(const std::string &query, double before_ms, double after_ms) {
	std::cout << std::left << std::setw(8) << query << std::right << std::fixed << std::setprecision(1) << std::setw(12)
			  << before_ms << std::setw(12) << after_ms << std::setprecision(3) << std::setw(9) << after_ms / before_ms
			  << '\n';
}

ExitCode RunCompare(const CompareOptions &options) {
	auto before = ReadTimes(options.before);
	std::map<std::string, double> after;
	for (auto &time : ReadTimes(options.after)) {
		after[time.query] = time.milliseconds;
	}
	std::cout << "query         A in ms     B in ms      B/A\n";
	double before_total = 0;
	double after_total = 0;
	for (auto &time : before) {
		auto other = after.find(time.query);
		// A query that failed has no times.
		if (other == after.end() || time.milliseconds == 0 || other->second == 0) {
			std::cerr << "skein: " << time.query << " was not timed in both reports\n";
			continue;
		}
		PrintLine(time.query, time.milliseconds, other->second);
		before_total += time.milliseconds;
		after_total += other->second;
	}
	if (before_total == 0) {
		throw CommandError(ExitCode::WRONG_USAGE,
						   "'" + options.before + "' and '" + options.after + "' share no query");
	}
	PrintLine("total", before_total, after_total);
	return ExitCode::DONE;
}

} // namespace

void AddBenchCompareCommand(CLI::App &bench, Action &action) {
	auto options = std::make_shared<CompareOptions>();
	auto command = bench.add_subcommand("compare", "Compares the distributed times of two reports");
	command->add_option("A", options->before, "A report that bench --out has written")->required();
	command->add_option("B", options->after, "Another")->required();
	command->callback([&action, options] { action = [options] { return RunCompare(*options); }; });
}

} // namespace skein::cli
