#include "bench_comparison.hpp"
#include "commands.hpp"
#include "sql_input.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace skein::cli {
namespace {

struct CompareOptions {
	std::string before;
	std::string after;
	bool anyway = false;
};

nlohmann::json ReadReport(const std::string &path) {
	auto text = ReadFile(path);
	try {
		auto report = nlohmann::json::parse(text);
		// Throws if it is another kind of JSON.
		BenchComparison(report, report);
		auto problem = ImpossibleTime(report);
		if (!problem.empty()) {
			throw CommandError(ExitCode::WRONG_USAGE, "'" + path + "' cannot be compared: " + problem);
		}
		return report;
	} catch (const nlohmann::json::exception &) {
		throw CommandError(ExitCode::WRONG_USAGE, "'" + path + "' is no report of skein bench");
	}
}

const char *MarkText(Mark mark) {
	switch (mark) {
	case Mark::FASTER:
		return "clearly faster";
	case Mark::NOISE:
		return "within noise";
	case Mark::SLOWER:
		return "clearly slower";
	case Mark::TOO_FEW:
		return "too few to tell";
	default:
		return "not compared";
	}
}

std::string Decimal(double value, int digits) {
	std::ostringstream text;
	text << std::fixed << std::setprecision(digits) << value;
	return text.str();
}

//! Prints lines of columns: the first to the left, the last as it is, the others to the right.
class Table {
public:
	explicit Table(const BenchComparison &comparison) {
		for (auto &query : comparison.Queries()) {
			name_width_ = std::max(name_width_, static_cast<int>(query.query.size()));
		}
		PrintLine("query", {"A ms", "spread", "B ms", "spread", "B/A", "p"}, "");
	}

	void Print(const Comparison &line, bool is_total) const {
		auto verdict = std::string(MarkText(line.mark));
		for (auto &remark : line.remarks) {
			verdict += ", " + remark;
		}
		if (line.before_ms <= 0) {
			PrintLine(line.query, {"-", "-", "-", "-", "-", "-"}, verdict);
			return;
		}
		auto spread = [&](double value) { return is_total ? std::string() : Decimal(100 * value, 1) + "%"; };
		PrintLine(line.query,
				  {Decimal(line.before_ms, 1), spread(line.before_spread), Decimal(line.after_ms, 1),
				   spread(line.after_spread), Decimal(line.Ratio(), 3), Decimal(line.p, 4)},
				  verdict);
	}

private:
	static constexpr int CELL_WIDTH = 10;

	void PrintLine(const std::string &name, const std::vector<std::string> &cells, const std::string &verdict) const {
		std::cout << std::left << std::setw(name_width_) << name << std::right;
		for (auto &cell : cells) {
			std::cout << std::setw(CELL_WIDTH) << cell;
		}
		std::cout << (verdict.empty() ? "" : "  ") << verdict << '\n';
	}

	int name_width_ = 6;
};

ExitCode RunCompare(const CompareOptions &options) {
	BenchComparison comparison(ReadReport(options.before), ReadReport(options.after));
	auto obstacles = comparison.Obstacles();
	if (!obstacles.empty() && !options.anyway) {
		std::string text;
		for (auto &obstacle : obstacles) {
			text += (text.empty() ? "" : "; ") + obstacle;
		}
		throw CommandError(ExitCode::WRONG_USAGE,
						   "the reports are not of the same thing (--anyway compares them): " + text);
	}
	if (comparison.Total().mark == Mark::NOT_COMPARED) {
		throw CommandError(ExitCode::WRONG_USAGE,
						   "'" + options.before + "' and '" + options.after + "' share no query with times");
	}
	auto differences = comparison.Differences();
	obstacles.insert(obstacles.end(), differences.begin(), differences.end());
	for (auto &difference : obstacles) {
		std::cerr << "skein: not the same: " << difference << '\n';
	}
	Table table(comparison);
	for (auto &query : comparison.Queries()) {
		table.Print(query, false);
	}
	table.Print(comparison.Total(), true);
	return ExitCode::DONE;
}

} // namespace

void AddBenchCompareCommand(CLI::App &bench, Action &action) {
	auto options = std::make_shared<CompareOptions>();
	auto command = bench.add_subcommand("compare", "Compares the distributed times of two reports");
	command->add_option("A", options->before, "A report that bench --out has written")->required();
	command->add_option("B", options->after, "Another")->required();
	command->add_flag("--anyway", options->anyway, "Also if they are of other data, another scale or machine");
	command->callback([&action, options] { action = [options] { return RunCompare(*options); }; });
}

} // namespace skein::cli
