//! Runs sqllogictest files in DuckDB's dialect, alone and distributed, and compares every answer.

#include "file_run.hpp"

#include "test/support/temporary_folder.hpp"
#include "test/support/worker_processes.hpp"

#include "cli/executable_folder.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <optional>

namespace skein::test {
namespace {

struct Arguments {
	std::vector<std::string> files;
	std::vector<std::string> configurations;
	std::string skein = (cli::ExecutableFolder() / "skein").string();
	bool only_findings = false;
	bool strict = false;
	size_t query_limit_seconds = 40;
	FileRun::Options run;
};

constexpr const char *DEFAULT_CONFIGURATION = "3_workers";
constexpr int WRONG_USAGE = 2;

std::string ConfigurationNames() {
	std::string names = "all";
	for (auto &configuration : AllConfigurations()) {
		names += ", " + configuration.name;
	}
	return names;
}

//! Throws std::invalid_argument for a name that is none.
std::vector<Configuration> Choose(const std::vector<std::string> &names) {
	std::vector<Configuration> result;
	for (auto &name : names) {
		auto before = result.size();
		for (auto &configuration : AllConfigurations()) {
			if (name == "all" || name == configuration.name) {
				result.push_back(configuration);
			}
		}
		if (result.size() == before) {
			throw std::invalid_argument("no configuration " + name + ", there are " + ConfigurationNames());
		}
	}
	return result;
}

//! Runs files one after the other, each in all configurations.
class Program {
public:
	Program(Arguments arguments, std::vector<Configuration> configurations)
		: arguments_(std::move(arguments)), configurations_(std::move(configurations)),
		  watchdog_(std::chrono::seconds(arguments_.query_limit_seconds)),
		  report_(std::cout, arguments_.only_findings, arguments_.strict) {
	}

	int Run() {
		for (auto &path : arguments_.files) {
			try {
				RunFile(path, SqlFile::Read(path));
			} catch (const std::exception &error) {
				report_.FailFile(error.what());
			}
		}
		report_.PrintTotal();
		return report_.Ok() ? 0 : 1;
	}

private:
	std::filesystem::path NewFolder() {
		return std::filesystem::path(root_.Path()) / std::to_string(folders_++);
	}

	void RunFile(const std::string &path, const SqlFile &file) {
		std::optional<TestFolder> fixture;
		if (!file.fixture.empty()) {
			fixture.emplace(NewFolder());
			RunOnce(path, {"fixture", 0, {{"skein_workers", "1"}}}, *fixture, file.fixture, true);
		}
		for (auto &configuration : configurations_) {
			TestFolder folder(NewFolder());
			if (fixture) {
				folder.Fill(FileRun::PLAIN, fixture->FolderOf(FileRun::PLAIN));
				folder.Fill(FileRun::SKEIN, fixture->FolderOf(FileRun::PLAIN));
			}
			RunOnce(path, configuration, folder, file.records, false);
		}
	}

	void RunOnce(const std::string &path, const Configuration &configuration, TestFolder &folder,
				 const std::vector<SqlRecord> &records, bool alone) {
		report_.BeginFile(path, configuration.name);
		FileRun run(path, configuration, folder, watchdog_, report_, arguments_.run);
		if (alone) {
			run.SetAlone();
		}
		run.Run(records);
		report_.EndFile();
	}

	const Arguments arguments_;
	const std::vector<Configuration> configurations_;
	TemporaryFolder root_;
	size_t folders_ = 0;
	Watchdog watchdog_;
	Report report_;
};

int Run(Arguments arguments) {
	auto configurations = Choose(arguments.configurations);
	size_t count = 0;
	for (auto &configuration : configurations) {
		count = std::max(count, configuration.processes);
	}
	std::optional<WorkerProcesses> processes;
	if (count > 0) {
		processes.emplace(arguments.skein, count);
		arguments.run.cluster = processes->AddressList();
	}
	return Program(std::move(arguments), std::move(configurations)).Run();
}

int Main(int argc, char **argv) {
	Arguments arguments;
	arguments.configurations = {DEFAULT_CONFIGURATION};
	arguments.run.extension_dir = SKEIN_DUCKDB_ROOT "/extensions";
	CLI::App app("Runs sqllogictest files in DuckDB's dialect: every query in plain DuckDB and through Skein.\n"
				 "Exit code 0: all answers agree; 1: something is different or wrong; 2: wrong usage.");
	app.name("skein-sqltest");
	app.add_option("--config", arguments.configurations, "How Skein is set; may be repeated: " + ConfigurationNames())
		->allow_extra_args(false)
		->capture_default_str();
	app.add_flag("--only-findings", arguments.only_findings, "No lines for queries in which nothing is wrong");
	app.add_flag("--strict", arguments.strict,
				 "It is wrong, too, if plain DuckDB gives not what a file expects, or if a part of a file is skipped");
	app.add_option("--max-findings", arguments.run.max_findings, "After which the rest of a file is left out")
		->capture_default_str();
	app.add_option("--query-limit", arguments.query_limit_seconds, "Seconds that a query may take")
		->check(CLI::PositiveNumber)
		->capture_default_str();
	app.add_flag("--trace", arguments.run.trace, "Name each statement on stderr before it runs");
	app.add_option("--extensions", arguments.run.extension_dir, "Where DuckDB's extensions lie")->capture_default_str();
	app.add_option("--skein", arguments.skein, "The command skein, for worker processes")->capture_default_str();
	app.add_option("file", arguments.files, "Test files; names in them are relative to the current folder")->required();
	try {
		app.parse(argc, argv);
		return Run(std::move(arguments));
	} catch (const CLI::ParseError &error) {
		auto code = app.exit(error);
		return code == 0 ? 0 : WRONG_USAGE;
	} catch (const std::invalid_argument &error) {
		std::cerr << "skein-sqltest: " << error.what() << '\n';
		return WRONG_USAGE;
	} catch (const std::exception &error) {
		std::cerr << "skein-sqltest: " << duckdb::ErrorData(error).Message() << '\n';
		return 1;
	}
}

} // namespace
} // namespace skein::test

int main(int argc, char **argv) {
	return skein::test::Main(argc, argv);
}
