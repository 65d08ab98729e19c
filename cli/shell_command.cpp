#include "commands.hpp"
#include "executable_folder.hpp"
#include "session.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skein::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *CLI_VARIABLE = "SKEIN_DUCKDB_CLI";

struct ShellOptions {
	SessionOptions session;
	//! For DuckDB's command line.
	std::vector<std::string> arguments;
};

bool IsExecutable(const fs::path &file) {
	return fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
}

//! DuckDB's command line: the one the user names, beside this executable, from set-up, or on the PATH.
fs::path FindDuckDBCommand() {
	if (auto named = std::getenv(CLI_VARIABLE)) {
		if (!IsExecutable(named)) {
			throw CommandError(ExitCode::FAILED, std::string(CLI_VARIABLE) + "=" + named + " is no program");
		}
		return named;
	}
	std::vector<fs::path> folders{ExecutableFolder(), SKEIN_DUCKDB_ROOT "/cli"};
	auto path = std::getenv("PATH");
	std::istringstream path_folders(path ? path : "");
	for (std::string folder; std::getline(path_folders, folder, ':');) {
		folders.emplace_back(folder);
	}
	for (auto &folder : folders) {
		if (IsExecutable(folder / "duckdb")) {
			return folder / "duckdb";
		}
	}
	throw CommandError(ExitCode::FAILED, std::string("no DuckDB command line (duckdb) found: install version ") +
											 duckdb::DuckDB::LibraryVersion() + ", or name it with " + CLI_VARIABLE);
}

fs::path FindSkeinExtension() {
	for (auto folder : {ExecutableFolder(), ExecutableFolder().parent_path() / "lib"}) {
		if (fs::exists(folder / "skein.duckdb_extension")) {
			return folder / "skein.duckdb_extension";
		}
	}
	throw CommandError(ExitCode::FAILED, "no skein.duckdb_extension in " + ExecutableFolder().string());
}

//! What the shell runs before it asks for the first line.
std::vector<std::string> StartStatements(const Cluster &cluster, const std::vector<std::string> &settings) {
	using duckdb::SQLIdentifier;
	using duckdb::SQLString;
	using duckdb::StringUtil;
	std::vector<std::string> statements{StringUtil::Format("LOAD %s", SQLString(FindSkeinExtension().string()))};
	auto all = cluster.Settings();
	for (auto &text : settings) {
		all.push_back(ParseSetting(text));
	}
	for (auto &[name, value] : all) {
		statements.push_back(StringUtil::Format("SET %s = %s", SQLIdentifier(name), SQLString(value)));
	}
	return statements;
}

ExitCode RunShell(const ShellOptions &options) {
	auto program = FindDuckDBCommand();
	Cluster cluster(options.session.cluster);
	std::vector<std::string> arguments{"duckdb", "-unsigned"};
	for (auto &statement : StartStatements(cluster, options.session.settings)) {
		arguments.insert(arguments.end(), {"-cmd", statement});
	}
	arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
	std::vector<char *> pointers;
	for (auto &argument : arguments) {
		pointers.push_back(argument.data());
	}
	pointers.push_back(nullptr);

	pid_t shell = -1;
	auto error = posix_spawn(&shell, program.c_str(), nullptr, nullptr, pointers.data(), environ);
	if (error != 0) {
		throw CommandError(ExitCode::FAILED, "cannot start " + program.string() + ": " + std::strerror(error));
	}
	// Ctrl-C is for the shell; it must not take the workers away from it.
	std::signal(SIGINT, SIG_IGN);
	int status = 0;
	while (waitpid(shell, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ExitCode::DONE : ExitCode::FAILED;
}

} // namespace

void AddShellCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<ShellOptions>();
	auto command = app.add_subcommand("shell", "Starts DuckDB's own command line with Skein in it");
	options->session.AddTo(*command);
	command->add_option("arguments", options->arguments, "For DuckDB's command line; after --");
	command->callback([&action, options] { action = [options] { return RunShell(*options); }; });
}

} // namespace skein::cli
