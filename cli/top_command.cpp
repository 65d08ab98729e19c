#include "commands.hpp"
#include "output.hpp"
#include "result_writer.hpp"
#include "session.hpp"

namespace skein::cli {
namespace {

constexpr std::chrono::seconds REFRESH_INTERVAL{1};
//! Cursor to the upper left corner, everything below it erased.
constexpr const char *CLEAR_SCREEN = "\033[H\033[J";

constexpr const char *WORKERS = "SELECT address, state, version, threads, slots, running_tasks AS running, "
								"waiting_tasks AS waiting, finished_tasks AS done, failed_tasks AS failed, "
								"format_bytes(memory_used) AS memory, format_bytes(memory_limit) AS \"limit\", "
								"format_bytes(spilled) AS spilled, format_bytes(output_bytes) AS output, "
								"format_bytes(link_bytes) AS sent, reason FROM skein_cluster()";

void Show(Session &session, Output &output) {
	session.Interrupts().Check();
	auto result = Query(session.Connection(), WORKERS);
	auto writer = MakeResultWriter(ResultFormat::TABLE, *session.Connection().context, {result->names, result->types},
								   output.IsTerminal() ? TableSize::TERMINAL : TableSize::COMPLETE, output.Stream());
	while (auto chunk = FetchNext(*result)) {
		writer->Write(*chunk);
	}
	writer->Finish();
	output.Flush();
}

ExitCode RunTop(const SessionOptions &options) {
	Output output("");
	Session session(options);
	if (!output.IsTerminal()) {
		Show(session, output);
		return ExitCode::DONE;
	}
	do {
		output.Stream() << CLEAR_SCREEN;
		Show(session, output);
	} while (!session.Interrupts().WaitFor(REFRESH_INTERVAL));
	return ExitCode::DONE;
}

} // namespace

void AddTopCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<SessionOptions>();
	auto command = app.add_subcommand("top", "Shows the workers, every second; once if the output is no terminal");
	options->AddTo(*command);
	command->callback([&action, options] { action = [options] { return RunTop(*options); }; });
}

} // namespace skein::cli
