#include "commands.hpp"
#include "explain_page.hpp"
#include "output.hpp"
#include "result_writer.hpp"
#include "session.hpp"
#include "sql_input.hpp"

#include "duckdb/parser/statement/explain_statement.hpp"

#include <sstream>

namespace skein::cli {
namespace {

using duckdb::ExplainFormat;
using duckdb::ExplainType;

const std::map<std::string, ExplainFormat> FORMATS{{"text", ExplainFormat::DEFAULT},
												   {"json", ExplainFormat::JSON},
												   {"dot", ExplainFormat::GRAPHVIZ},
												   // The page is made of it.
												   {"html", ExplainFormat::JSON}};

struct ExplainOptions {
	SqlInput input;
	SessionOptions session;
	bool analyze = false;
	std::string format = "text";
};

duckdb::unique_ptr<duckdb::SQLStatement> Explain(duckdb::unique_ptr<duckdb::SQLStatement> statement,
												 const ExplainOptions &options) {
	auto query = statement->query;
	auto type = options.analyze ? ExplainType::EXPLAIN_ANALYZE : ExplainType::EXPLAIN_STANDARD;
	auto explain = duckdb::make_uniq<duckdb::ExplainStatement>(std::move(statement), type, FORMATS.at(options.format));
	explain->query = query;
	return explain;
}

//! Runs all statements but the last, and explains that one.
ExitCode RunExplain(const ExplainOptions &options) {
	auto sql = options.input.Read();
	Output output("");
	Session session(options.session);
	auto statements = session.Parse(sql);
	if (statements.empty()) {
		throw CommandError(ExitCode::WRONG_USAGE, "no SQL to explain");
	}
	auto last = std::move(statements.back());
	statements.pop_back();
	for (auto &statement : statements) {
		auto result = session.Stream(std::move(statement));
		while (FetchNext(*result)) {
		}
	}
	auto sql_of_plan = last->query;
	auto plan = session.Stream(Explain(std::move(last), options));
	if (options.format == "html") {
		std::ostringstream json;
		WritePlan(*plan, json);
		output.Stream() << ExplainPage(sql_of_plan, json.str());
	} else {
		WritePlan(*plan, output.Stream());
	}
	output.Flush();
	return ExitCode::DONE;
}

} // namespace

void AddExplainCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<ExplainOptions>();
	auto command = app.add_subcommand("explain", "Shows how SQL is distributed");
	options->input.AddTo(*command);
	options->session.AddDatabaseTo(*command);
	options->session.AddTo(*command);
	command->add_flag("--analyze", options->analyze, "Run it and show rows, times and bytes");
	command->add_option("--format", options->format, "Form of the plan: text by default")
		->check(CLI::IsMember(FORMATS));
	command->callback([&action, options] { action = [options] { return RunExplain(*options); }; });
}

} // namespace skein::cli
