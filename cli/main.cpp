#include "commands.hpp"
#include "session.hpp"

#include "skein/skein.hpp"

#include <iostream>

namespace skein::cli {
namespace {

std::string VersionText() {
	return "skein " + Version() + " (DuckDB " + duckdb::DuckDB::LibraryVersion() + ")";
}

ExitCode Report(ExitCode code, const std::string &message) {
	std::cout.flush();
	std::cerr << message << '\n';
	return code;
}

//! Runs `action`; nothing that it throws leaves here.
ExitCode Run(const Action &action) {
	try {
		return action();
	} catch (const CommandError &error) {
		return Report(error.Code(), std::string("skein: ") + error.what());
	} catch (const duckdb::Exception &error) {
		duckdb::ErrorData data(error);
		if (data.Type() == duckdb::ExceptionType::INTERRUPT) {
			return Report(ExitCode::INTERRUPTED, "skein: interrupted");
		}
		if (IsClusterUnreachable(data)) {
			return Report(ExitCode::CLUSTER_UNREACHABLE, "skein: " + data.RawMessage());
		}
		return Report(ExitCode::FAILED, data.Message());
	} catch (const std::exception &error) {
		return Report(ExitCode::FAILED, std::string("skein: ") + error.what());
	}
}

int Main(int argc, char **argv) {
	CLI::App app{"Runs SQL queries with DuckDB on many processes or machines."};
	app.name("skein");
	app.set_version_flag("--version", VersionText());
	app.require_subcommand(1);

	Action action;
	AddSqlCommand(app, action);
	AddExplainCommand(app, action);
	AddWorkerCommand(app, action);
	AddClusterCommand(app, action);
	AddBenchCommand(app, action);
	AddShellCommand(app, action);
	AddTopCommand(app, action);

	try {
		app.parse(argc, argv);
	} catch (const CLI::Success &help) {
		return app.exit(help);
	} catch (const CLI::ParseError &error) {
		auto is_unknown = app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-';
		auto reason = is_unknown ? "unknown command '" + std::string(argv[1]) + "'" : error.what();
		return static_cast<int>(Report(ExitCode::WRONG_USAGE, "skein: " + reason + " (see skein --help)"));
	}
	return static_cast<int>(Run(action));
}

} // namespace
} // namespace skein::cli

int main(int argc, char **argv) {
	return skein::cli::Main(argc, argv);
}
