#include "address.hpp"
#include "commands.hpp"
#include "stop_signals.hpp"

#include "skein/skein.hpp"

#include <iostream>

namespace skein::cli {
namespace {

constexpr std::chrono::seconds STOP_GRACE{10};

//! Accepts what DuckDB takes for a memory limit.
CLI::Validator MemoryLimit() {
	return CLI::Validator(
		[](std::string &text) -> std::string {
			try {
				duckdb::DBConfig::ParseMemoryLimit(text);
				return {};
			} catch (const std::exception &error) {
				return "'" + text + "' is no memory limit: " + duckdb::ErrorData(error).RawMessage();
			}
		},
		"SIZE");
}

ExitCode RunWorker(const WorkerOptions &options) {
	StopSignals signals;
	auto worker = Worker::Start(options);
	std::cout << "skein worker listening on " << worker->Address() << std::endl;
	signals.Wait();
	worker->Stop(STOP_GRACE);
	return ExitCode::DONE;
}

} // namespace

void AddWorkerCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<WorkerOptions>();
	auto command = app.add_subcommand("worker", "Runs tasks for others until it is stopped");
	command->add_option("--listen", options->listen, "Address to listen on; port 0 picks a free one")
		->check(ListenAddress())
		->required();
	command->add_option("--threads", options->threads, "Threads that run tasks; by default one per core")
		->check(CLI::Range(1, 4096));
	command->add_option("--memory-limit", options->memory_limit, "Memory for tasks, such as 4GB")->check(MemoryLimit());
	command->add_option("--temp-directory", options->temp_directory, "Folder for what does not fit into memory");
	command->callback([&action, options] { action = [options] { return RunWorker(*options); }; });
}

} // namespace skein::cli
