#include "bench_runner.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "session.hpp"
#include "suite.hpp"

#include <iostream>

namespace skein::cli {
namespace {

struct BenchOptions {
	SuiteOptions suite;
	BenchRunOptions run;
	SessionOptions session;
	std::string out;
};

//! Makes `alone` plain DuckDB, with the user's settings that are DuckDB's own.
void SetUpAlone(duckdb::Connection &alone, const std::vector<std::string> &settings) {
	ApplySetting(alone, "skein_mode", "off");
	for (auto &text : settings) {
		auto [name, value] = ParseSetting(text);
		if (!duckdb::StringUtil::StartsWith(duckdb::StringUtil::Lower(name), "skein_")) {
			ApplySetting(alone, name, value);
		}
	}
}

nlohmann::ordered_json DescribeConfig(const BenchOptions &options, const Suite &suite, Session &session,
									  duckdb::Connection &alone) {
	nlohmann::ordered_json config;
	config["cluster"] = session.Workers().Description();
	config["workers"] = session.Workers().Count();
	config["threads"] = Query(alone, "SELECT current_setting('threads')")->GetValue(0, 0).GetValue<int64_t>();
	config["settings"] = nlohmann::ordered_json::object();
	for (auto &text : options.session.settings) {
		auto [name, value] = ParseSetting(text);
		config["settings"][name] = value;
	}
	config["data"] = suite.data;
	config["runs"] = options.run.runs;
	config["verify"] = options.run.verify;
	config["alone"] = options.run.alone;
	return config;
}

int64_t CountRows(const Suite &suite, duckdb::Connection &connection) {
	int64_t rows = 0;
	for (auto &table : suite.tables) {
		auto sql = duckdb::StringUtil::Format("SELECT count(*) FROM %s", duckdb::SQLIdentifier(table));
		rows += Query(connection, sql)->GetValue<int64_t>(0, 0);
	}
	return rows;
}

//! What does not fit the table.
void PrintRemarks(const QueryReport &query) {
	if (query.error) {
		std::cerr << query.query << ": " << *query.error << '\n';
	}
	if (!query.distributed && query.last_query.reason) {
		std::cerr << query.query << ": not distributed: " << *query.last_query.reason << '\n';
	}
}

bool IsGood(const QueryReport &query, const BenchRunOptions &options) {
	return !query.error && (!options.verify || (query.distributed && query.Equal()));
}

ExitCode RunBench(const BenchOptions &options) {
	if (options.suite.suite.empty()) {
		throw CommandError(ExitCode::WRONG_USAGE, "bench needs a suite: tpch, tpcds or a folder with SQL files");
	}
	std::optional<Output> out;
	if (!options.out.empty()) {
		out.emplace(options.out);
	}
	Session session(options.session);
	auto alone = session.OpenConnection();
	SetUpAlone(alone, options.session.settings);

	BenchReport report;
	report.suite = OpenSuite(options.suite, session.Interrupts());
	CreateViews(report.suite, alone);
	report.rows = CountRows(report.suite, alone);
	report.config = DescribeConfig(options, report.suite, session, alone);
	report.alone = options.run.alone;

	BenchTable table(report.suite, std::cout);
	BenchRunner runner(session, alone, options.run);
	auto all_good = true;
	for (auto &query : report.suite.queries) {
		report.queries.push_back(runner.Run(query));
		table.PrintQuery(report.queries.back());
		PrintRemarks(report.queries.back());
		all_good = all_good && IsGood(report.queries.back(), options.run);
	}
	table.PrintTotals(report);
	if (out) {
		out->Stream() << report.ToJson().dump(2) << '\n';
		out->Flush();
	}
	return all_good ? ExitCode::DONE : ExitCode::FAILED;
}

} // namespace

void AddBenchCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<BenchOptions>();
	auto command = app.add_subcommand("bench", "Runs the queries of a suite, times and checks them");
	auto &suite = options->suite;
	command->add_option("suite", suite.suite, "tpch, tpcds, or a folder: its *.sql files, in the order of their names");
	command->add_option("--sf", suite.scale, "Scale of tpch and tpcds")->check(CLI::Range(0.001, 100000.0));
	command->add_option("--data", suite.data,
						"Folder of the tables' folders with Parquet files; for tpch and tpcds made when it is missing "
						"(by default data/SUITE-sfN)");
	command->add_option("--queries", suite.queries, "Numbers or names, separated by commas; by default all")
		->delimiter(',')
		->allow_extra_args(false);
	command->add_option("--extension-dir", suite.extension_dir, "Folder of DuckDB's extensions tpch and tpcds");
	command->add_option("--runs", options->run.runs, "Runs of each query")->check(CLI::Range(1, 1000));
	command->add_flag("--verify", options->run.verify, "Compare each answer with plain DuckDB's");
	command->add_flag("--alone", options->run.alone, "Time plain DuckDB, too, in turns");
	command->add_option("--out", options->out, "File for the report as JSON");
	options->session.AddTo(*command);
	AddBenchCompareCommand(*command, action);
	AddBenchSimulateCommand(*command, action);
	command->callback([&action, options, command] {
		if (command->get_subcommands().empty()) {
			action = [options] { return RunBench(*options); };
		}
	});
}

} // namespace skein::cli
