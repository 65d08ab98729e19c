//! Runs random queries in plain DuckDB and distributed, and reports where the answers differ. See fuzz/README.md.

#include "fuzz/supervisor.hpp"

#include "cli/executable_folder.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

namespace skein::fuzz {
namespace {

int Run(FuzzOptions options, const std::string &extensions, bool only_print) {
	Catalog catalog;
	if (only_print) {
		for (uint64_t i = 0; i < options.count; i++) {
			std::cout << QueryOf(catalog, options, options.first_seed + i).sql << ";\n";
		}
		return 0;
	}
	MakeTableFiles(options.contest.data, extensions + "/tpch.duckdb_extension");
	if (!options.sql.empty()) {
		options.count = 1;
	}
	return RunSupervised(options) ? 0 : 1;
}

} // namespace
} // namespace skein::fuzz

int main(int argc, char **argv) {
	skein::fuzz::FuzzOptions options;
	options.program = argv[0];
	options.contest.data = "data/fuzz";
	options.contest.skein = (std::filesystem::path(skein::cli::ExecutableFolder()) / "skein").string();
	std::string extensions = SKEIN_DUCKDB_ROOT "/extensions";
	std::vector<std::string> configurations;
	std::vector<std::string> without;
	auto only_print = false;
	int64_t limit = options.contest.limit.count();
	int64_t shrink_limit = options.shrink_limit.count();
	CLI::App app("Compares random queries, distributed, with plain DuckDB");
	app.add_option("--seed", options.first_seed, "The first seed");
	app.add_option("--count", options.count, "How many seeds");
	app.add_option("--seconds", options.seconds, "After which no further seed is begun; 0: no limit");
	app.add_option("--config", configurations, "workers=3,threads=1,... instead of what the seed says; may be repeated")
		->allow_extra_args(false);
	app.add_option("--without", without, "A feature; queries that have it are not run; may be repeated")
		->allow_extra_args(false);
	app.add_option("--out", options.log, "A file to which findings are appended");
	app.add_flag("--shrink,!--no-shrink", options.shrink, "Whether to shorten the query of a difference");
	app.add_flag("--until-found", options.until_found, "Whether to end with the first finding");
	app.add_option("--shrink-seconds", shrink_limit, "Longest time for that");
	app.add_option("--limit", limit, "Seconds after which a query hangs");
	app.add_option("--jobs", options.jobs, "Processes that run queries");
	app.add_option("--processes", options.contest.processes, "Worker processes of each; 0: none");
	app.add_option("--data", options.contest.data, "The folder of the tables' files; made if it is missing");
	app.add_option("--skein", options.contest.skein, "The command skein, for worker processes");
	app.add_option("--extensions", extensions, "Where DuckDB's extensions lie");
	app.add_option("--sql", options.sql, "A query to run instead of generated ones");
	app.add_flag("--row-order", options.row_order, "With --sql: rows must come in plain DuckDB's order");
	app.add_flag("--print", only_print, "Print the queries and run nothing");
	CLI11_PARSE(app, argc, argv);
	try {
		for (auto &text : configurations) {
			options.configurations.push_back(skein::fuzz::FuzzConfiguration::Parse(text));
		}
		for (auto &name : without) {
			options.without.set(static_cast<size_t>(skein::fuzz::FindFeature(name)));
		}
		options.contest.limit = std::chrono::seconds(limit);
		options.shrink_limit = std::chrono::seconds(shrink_limit);
		return skein::fuzz::Run(std::move(options), extensions, only_print);
	} catch (const std::exception &error) {
		std::cerr << "skein-fuzz: " << duckdb::ErrorData(error).Message() << '\n';
		return 2;
	}
}
