//! Runs a test file in every configuration and compares each answer with plain DuckDB's.
//!
//!     answers_test --skein FILE --extensions DIR [--configuration NAME]... FILE.test

#include "test/support/sql_test_runner.hpp"
#include "test/support/temporary_folder.hpp"
#include "test/support/worker_processes.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>

namespace skein::test {
namespace {

struct Arguments {
	std::string skein;
	std::string file;
	std::vector<std::string> configurations;
	SqlTestRunner::Options runner;
};

std::vector<Configuration> Choose(const std::vector<std::string> &names) {
	if (names.empty()) {
		return AllConfigurations();
	}
	std::vector<Configuration> result;
	for (auto &name : names) {
		auto found = std::find_if(AllConfigurations().begin(), AllConfigurations().end(),
								  [&](auto &configuration) { return configuration.name == name; });
		if (found == AllConfigurations().end()) {
			throw std::runtime_error("no configuration " + name);
		}
		result.push_back(*found);
	}
	return result;
}

int Run(Arguments arguments) {
	auto configurations = Choose(arguments.configurations);
	size_t count = 0;
	for (auto &configuration : configurations) {
		count = std::max(count, configuration.processes);
	}
	std::optional<WorkerProcesses> processes;
	if (count > 0) {
		processes.emplace(arguments.skein, count);
		arguments.runner.cluster = processes->AddressList();
	}
	TemporaryFolder folder;
	auto file = SqlTestFile::Read(arguments.file, folder.Path());
	SqlTestRunner runner(arguments.file, file, arguments.runner);
	runner.RunFixture();
	for (auto &configuration : configurations) {
		auto start = std::chrono::steady_clock::now();
		auto queries = runner.Queries();
		auto failures = runner.Failures();
		runner.Run(configuration);
		std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
		std::cout << configuration.name << ": " << runner.Queries() - queries << " queries, "
				  << runner.Failures() - failures << " failures, " << time.count() << " s" << std::endl;
	}
	if (runner.Queries() == 0) {
		std::cerr << arguments.file << ": no query was run\n";
		return 1;
	}
	return runner.Failures() == 0 ? 0 : 1;
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	skein::test::Arguments arguments;
	CLI::App app("Compares distributed answers with plain DuckDB's");
	app.add_option("--skein", arguments.skein, "The command skein")->required();
	app.add_option("--extensions", arguments.runner.extension_dir, "Where DuckDB's extensions lie")->required();
	app.add_option("--configuration", arguments.configurations, "Only this one; may be repeated")
		->allow_extra_args(false);
	app.add_option("--max-failures", arguments.runner.max_failures, "After which a configuration is given up");
	app.add_flag("--trace", arguments.runner.trace, "Say what is run");
	app.add_option("file", arguments.file, "The test file")->required();
	CLI11_PARSE(app, argc, argv);
	try {
		return skein::test::Run(std::move(arguments));
	} catch (const std::exception &error) {
		std::cerr << duckdb::ErrorData(error).Message() << '\n';
		return 1;
	}
}
