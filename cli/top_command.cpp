#include "commands.hpp"
#include "output.hpp"
#include "result_writer.hpp"
#include "session.hpp"

namespace skein::cli {
namespace {

constexpr std::chrono::seconds REFRESH_INTERVAL{1};
constexpr const char *CONNECT_TIMEOUT = "skein_connect_timeout=1 s";
//! Cursor to the upper left corner, everything below it erased.
constexpr const char *CLEAR_SCREEN = "\033[H\033[J";

//! What the workers say now, and what they said before; the time is that of the statement.
constexpr const char *TAKE_FIRST = "CREATE TEMP TABLE skein_top_now AS SELECT *, now() AS at FROM skein_cluster()";
constexpr const char *KEEP_BEFORE = "CREATE OR REPLACE TEMP TABLE skein_top_before AS FROM skein_top_now";
constexpr const char *TAKE = "CREATE OR REPLACE TEMP TABLE skein_top_now AS SELECT *, now() AS at FROM skein_cluster()";

constexpr const char *WORKERS =
	"SELECT a.address, a.state, a.version, a.threads, a.slots, a.queries, a.running_tasks AS running, "
	"a.waiting_tasks AS waiting, a.finished_tasks AS done, a.failed_tasks AS failed, "
	"format_bytes(a.memory_used) AS memory, format_bytes(a.memory_limit) AS \"limit\", "
	"format_bytes(a.spilled) AS spilled, "
	"format_bytes((greatest(a.exchange_sent_bytes - b.exchange_sent_bytes, 0) / seconds)::BIGINT) || '/s' AS sent, "
	"format_bytes((greatest(a.exchange_received_bytes - b.exchange_received_bytes, 0) / seconds)::BIGINT) || '/s' "
	"AS received, a.reason "
	"FROM skein_top_now a LEFT JOIN skein_top_before b USING (address), "
	"LATERAL (SELECT greatest(epoch(a.at) - epoch(b.at), 0.001) AS seconds) ORDER BY a.rowid";

constexpr const char *QUERIES = "SELECT query, attempt, workers, running_tasks AS running, waiting_tasks AS waiting, "
								"round(age_ms / 1000, 1) AS seconds FROM skein_queries() WHERE state = 'running' "
								"ORDER BY age_ms DESC LIMIT 20";

void Show(Session &session, Output &output, const char *sql) {
	auto result = Query(session.Connection(), sql);
	auto writer = MakeResultWriter(ResultFormat::TABLE, *session.Connection().context, {result->names, result->types},
								   output.IsTerminal() ? TableSize::TERMINAL : TableSize::COMPLETE, output.Stream());
	while (auto chunk = FetchNext(*result)) {
		writer->Write(*chunk);
	}
	writer->Finish();
}

//! Rates are those since the last time.
void ShowAll(Session &session, Output &output) {
	session.Interrupts().Check();
	Query(session.Connection(), KEEP_BEFORE);
	Query(session.Connection(), TAKE);
	Show(session, output, WORKERS);
	Show(session, output, QUERIES);
	output.Flush();
}

ExitCode RunTop(SessionOptions options) {
	Output output("");
	// A worker that is not there should not hold up what the others say; --set comes later.
	options.settings.insert(options.settings.begin(), CONNECT_TIMEOUT);
	Session session(options);
	ApplySetting(session.Connection(), "skein_mode", "off");
	Query(session.Connection(), TAKE_FIRST);
	if (!output.IsTerminal()) {
		// A rate needs two looks.
		session.Interrupts().WaitFor(REFRESH_INTERVAL);
		ShowAll(session, output);
		return ExitCode::DONE;
	}
	while (!session.Interrupts().WaitFor(REFRESH_INTERVAL)) {
		output.Stream() << CLEAR_SCREEN;
		ShowAll(session, output);
	}
	return ExitCode::DONE;
}

} // namespace

void AddTopCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<SessionOptions>();
	auto command = app.add_subcommand(
		"top", "Shows the workers and their queries, every second; once if the output is no terminal");
	options->AddTo(*command);
	command->callback([&action, options] { action = [options] { return RunTop(*options); }; });
}

} // namespace skein::cli
