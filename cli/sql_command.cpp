#include "commands.hpp"
#include "last_query.hpp"
#include "output.hpp"
#include "progress_bar.hpp"
#include "result_writer.hpp"
#include "session.hpp"
#include "sql_input.hpp"

#include <chrono>
#include <iostream>

namespace skein::cli {
namespace {

struct SqlOptions {
	SqlInput input;
	SessionOptions session;
	std::string format = "table";
	std::string output;
	bool timer = false;
	bool stats = false;
};

bool HasRows(const duckdb::QueryResult &result) {
	return result.properties.return_type == duckdb::StatementReturnType::QUERY_RESULT;
}

void PrintResult(Session &session, duckdb::QueryResult &result, ResultFormat format, Output &output) {
	auto is_plan = result.statement_type == duckdb::StatementType::EXPLAIN_STATEMENT;
	if (format == ResultFormat::TABLE && is_plan) {
		WritePlan(result, output.Stream());
		output.Flush();
		return;
	}
	if (!HasRows(result)) {
		format = ResultFormat::NONE;
	}
	auto writer = MakeResultWriter(format, *session.Connection().context, {result.names, result.types},
								   output.IsTerminal() ? TableSize::TERMINAL : TableSize::COMPLETE, output.Stream());
	while (auto chunk = FetchNext(result)) {
		writer->Write(*chunk);
		if (!output.Stream()) {
			break;
		}
	}
	writer->Finish();
	output.Flush();
}

ExitCode RunSql(const SqlOptions &options) {
	auto sql = options.input.Read();
	auto format = ResultFormats().at(options.format);
	Output output(options.output);
	Session session(options.session);
	ShowProgress(session.Connection());
	auto statements = session.Parse(sql);
	for (auto &statement : statements) {
		auto start = std::chrono::steady_clock::now();
		auto result = session.Stream(std::move(statement));
		PrintResult(session, *result, format, output);
		if (options.timer) {
			std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
			std::cerr << "Run Time (s): real " << duckdb::StringUtil::Format("%.3f", seconds.count()) << '\n';
		}
	}
	if (options.stats && !statements.empty()) {
		std::cerr << LastQuery::Read(session.Connection()).ToJson().dump() << '\n';
	}
	return ExitCode::DONE;
}

} // namespace

void AddSqlCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<SqlOptions>();
	auto command = app.add_subcommand("sql", "Runs SQL and prints the results");
	options->input.AddTo(*command);
	options->session.AddDatabaseTo(*command);
	options->session.AddTo(*command);
	command->add_option("--format", options->format, "Form of the results: table by default")
		->check(CLI::IsMember(ResultFormats()));
	command->add_option("--output", options->output, "File for the results instead of the standard output");
	command->add_flag("--timer", options->timer, "Print the time of each statement on the standard error");
	command->add_flag("--stats", options->stats,
					  "Print how the last statement was distributed, as JSON, on the standard error");
	command->callback([&action, options] { action = [options] { return RunSql(*options); }; });
}

} // namespace skein::cli
