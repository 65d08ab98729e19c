#include "address.hpp"
#include "commands.hpp"
#include "stop_signals.hpp"
#include "worker_log.hpp"
#include "worker_metrics.hpp"

#include "skein/skein.hpp"

#include <cstdlib>
#include <iostream>
#include <optional>

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

struct WorkerCommandOptions {
	WorkerOptions worker;
	//! Empty: no metrics.
	std::string metrics;
	//! Empty: no log.
	std::string log;
	//! Names or paths.
	std::vector<std::string> extensions;
};

void LoadExtensions(duckdb::DatabaseInstance &db, const std::vector<std::string> &extensions) {
	duckdb::Connection connection(db);
	for (auto &extension : extensions) {
		auto result = connection.Query("LOAD " + duckdb::KeywordHelper::WriteQuoted(extension, '\''));
		if (result->HasError()) {
			auto message = result->GetErrorObject().RawMessage();
			// DuckDB goes on with names that are alike.
			message.resize(std::min(message.size(), message.find('\n')));
			throw CommandError(ExitCode::FAILED, "extension '" + extension + "' cannot be loaded: " + message);
		}
	}
}

ExitCode RunWorker(const WorkerCommandOptions &options) {
	StopSignals signals;
	auto worker_options = options.worker;
	std::optional<WorkerLog> log;
	if (!options.log.empty()) {
		log.emplace(options.log);
		worker_options.on_event = [&log](const WorkerEvent &event) { log->Write(event); };
	}
	worker_options.set_up = [&options](duckdb::DatabaseInstance &db) { LoadExtensions(db, options.extensions); };
	auto worker = Worker::Start(worker_options);
	if (log) {
		log->SetWorker(worker->Address());
	}
	std::optional<WorkerMetrics> metrics;
	if (!options.metrics.empty()) {
		metrics.emplace(*worker, options.metrics);
		std::cerr << "skein worker metrics at http://" << metrics->Address() << "/metrics" << std::endl;
	}
	std::cout << "skein worker listening on " << worker->Address() << std::endl;
	signals.Wait();
	if (!worker->Stop(STOP_GRACE)) {
		// Nothing of the process can be taken down in an orderly way while they run.
		SayOnStderr("tasks have not ended after their cancellation, leaving without them");
		if (log) {
			log->Stop();
		}
		std::_Exit(static_cast<int>(ExitCode::FAILED));
	}
	return ExitCode::DONE;
}

} // namespace

void AddWorkerCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<WorkerCommandOptions>();
	auto command = app.add_subcommand("worker", "Runs tasks for others until it is stopped");
	command->add_option("--listen", options->worker.listen, "Address to listen on; port 0 picks a free one")
		->check(ListenAddress())
		->required();
	command->add_option("--threads", options->worker.threads, "Threads that run tasks; by default one per core")
		->check(CLI::Range(1, 4096));
	command->add_option("--memory-limit", options->worker.memory_limit, "Memory for tasks, such as 4GB")
		->check(MemoryLimit());
	command->add_option("--temp-directory", options->worker.temp_directory, "Folder for what does not fit into memory");
	command->add_option("--slots", options->worker.slots, "Most tasks that run at a time; by default no limit")
		->check(CLI::Range(1, 65536));
	command->add_option("--load", options->extensions,
						"Extension of DuckDB to load, such as httpfs, by its name or path; may be repeated");
	command->add_option("--metrics", options->metrics, "Address at which to serve metrics for Prometheus")
		->check(ListenAddress());
	command->add_option("--log", options->log, "File to append a log to, a JSON object a line; - is stderr");
	command->callback([&action, options] { action = [options] { return RunWorker(*options); }; });
}

} // namespace skein::cli
