#include "commands.hpp"
#include "bench_report.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "result_writer.hpp"
#include "session.hpp"
#include "simulation.hpp"
#include "suite.hpp"

#include "skein/skein.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>

#include <time.h>

namespace skein::cli {
namespace {

using nlohmann::ordered_json;

struct SimulateOptions {
	SuiteOptions suite;
	std::vector<size_t> tasks{4, 16, 64, 256};
	size_t runs = 1;
	double gigabits_per_second = 10;
	double latency_us = 100;
	double cpu_s_per_gigabyte = 1.3;
	std::vector<std::string> settings;
	std::string memory_limit;
	std::string out;

	SimulatedNetwork Network() const {
		SimulatedNetwork network;
		network.bytes_per_second = gigabits_per_second * 1e9 / 8;
		network.latency_s = latency_us / 1e6;
		network.cpu_s_per_byte = cpu_s_per_gigabyte / 1e9;
		return network;
	}
};

//! One query for so many tasks.
struct SimulatedQuery {
	std::string query;
	size_t tasks = 0;
	double alone_s = 0;
	MeasuredQuery measured;
	Simulation simulation;

	//! Which share of the machines' time DuckDB alone would have needed.
	double Efficiency() const {
		return alone_s / (static_cast<double>(tasks) * simulation.total_s);
	}
	ordered_json ToJson() const;
};

ordered_json StageJson(const SimulatedStage &stage) {
	return {{"stage", stage.id},		  {"tasks", stage.tasks},		   {"start_s", stage.start_s},
			{"end_s", stage.end_s},		  {"cpu_s", stage.cpu_s},		   {"slowest_s", stage.slowest_s},
			{"critical_s", stage.path_s}, {"transfer_s", stage.transfer_s}};
}

ordered_json SimulatedQuery::ToJson() const {
	ordered_json json;
	json["query"] = query;
	json["tasks"] = tasks;
	json["alone_cpu_s"] = alone_s;
	json["session_s"] = measured.session_s;
	json["tasks_cpu_s"] = simulation.cpu_s;
	json["network_cpu_s"] = simulation.network_cpu_s;
	json["bytes_exchanged"] = measured.Bytes();
	json["time_s"] = simulation.total_s;
	json["efficiency"] = Efficiency();
	json["limit"] = simulation.limit;
	json["stages"] = ordered_json::array();
	for (auto &stage : simulation.stages) {
		json["stages"].push_back(StageJson(stage));
	}
	return json;
}

//! Processor time of this thread so far.
double ThreadCpuSeconds() {
	timespec time{};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

//! Runs the tasks of queries one at a time, on a worker of this process with one thread and one slot.
class TaskRunner {
public:
	explicit TaskRunner(const SimulateOptions &options)
		: options_(options), session_(SessionOptions()), alone_(session_.OpenConnection()) {
		WorkerOptions worker;
		worker.threads = 1;
		worker.slots = 1;
		worker.memory_limit = options.memory_limit;
		worker_ = Worker::Start(worker);
		auto &connection = session_.Connection();
		ApplySetting(connection, "threads", "1");
		ApplySetting(connection, "skein_cluster", worker_->Address());
		ApplySetting(connection, "skein_work_stealing", "off");
		for (auto &text : options.settings) {
			auto [name, value] = ParseSetting(text);
			ApplySetting(connection, name, value);
		}
		ApplySetting(alone_, "skein_mode", "off");
	}

	Suite Open() {
		auto suite = OpenSuite(options_.suite, session_.Interrupts());
		CreateViews(suite, alone_);
		return suite;
	}

	//! The least of all runs, after one that only warms up.
	double MeasureAlone(const std::string &sql) {
		session_.Interrupts().Watch(alone_);
		std::optional<double> least;
		for (size_t run = 0; run <= options_.runs; run++) {
			session_.Interrupts().Check();
			auto before = OwnCpuSeconds();
			Query(alone_, sql);
			auto used = OwnCpuSeconds() - before;
			if (run > 0) {
				least = std::min(least.value_or(used), used);
			}
		}
		return *least;
	}

	//! The run that used least.
	MeasuredQuery Measure(const std::string &sql, size_t tasks) {
		auto &connection = session_.Connection();
		session_.Interrupts().Watch(connection);
		ApplySetting(connection, "skein_max_tasks", std::to_string(tasks));
		std::optional<MeasuredQuery> best;
		for (size_t run = 0; run < options_.runs; run++) {
			session_.Interrupts().Check();
			auto total_before = OwnCpuSeconds();
			auto session_before = ThreadCpuSeconds();
			auto plan = Query(connection, "EXPLAIN (ANALYZE, FORMAT json) " + sql);
			auto session_s = ThreadCpuSeconds() - session_before;
			auto total_s = OwnCpuSeconds() - total_before;
			std::ostringstream text;
			WritePlan(*plan, text);
			auto report = nlohmann::json::parse(text.str());
			if (!report.value("distributed", false)) {
				throw CommandError(ExitCode::FAILED, "a query is not distributed: " + report.value("reason", ""));
			}
			auto measured = MeasuredQuery::From(report, session_s, total_s);
			if (!best || measured.TaskSeconds() < best->TaskSeconds()) {
				best = std::move(measured);
			}
		}
		return std::move(*best);
	}

private:
	const SimulateOptions &options_;
	Session session_;
	duckdb::Connection alone_;
	std::unique_ptr<Worker> worker_;
};

//! Prints a line for each query and number of tasks, and sums at the end.
class SimulationTable {
public:
	SimulationTable() {
		PrintLine({"query", "tasks", "alone s", "tasks s", "session s", "sent MB", "time s", "speedup", "efficiency"},
				  "limited by");
	}
	void Print(const SimulatedQuery &query) {
		auto &total = totals_[query.tasks];
		total.alone_s += query.alone_s;
		total.simulation.total_s += query.simulation.total_s;
		total.simulation.cpu_s += query.simulation.cpu_s;
		total.measured.session_s += query.measured.session_s;
		total.tasks = query.tasks;
		PrintQuery(query, Decimal(query.measured.Bytes() / 1e6, 1));
	}
	void PrintTotals() {
		for (auto &[tasks, total] : totals_) {
			total.query = "total";
			PrintQuery(total, "");
		}
	}
	const std::map<size_t, SimulatedQuery> &Totals() const {
		return totals_;
	}

private:
	static std::string Decimal(double value, int digits) {
		std::ostringstream text;
		text << std::fixed << std::setprecision(digits) << value;
		return text.str();
	}
	static void PrintQuery(const SimulatedQuery &query, const std::string &megabytes) {
		auto efficiency = query.Efficiency();
		PrintLine({query.query, std::to_string(query.tasks), Decimal(query.alone_s, 3),
				   Decimal(query.simulation.cpu_s, 3), Decimal(query.measured.session_s, 3), megabytes,
				   Decimal(query.simulation.total_s, 3), Decimal(efficiency * static_cast<double>(query.tasks), 2),
				   Decimal(100 * efficiency, 1) + "%"},
				  query.simulation.limit);
	}
	static void PrintLine(const std::vector<std::string> &cells, const std::string &limit) {
		std::cout << std::left << std::setw(6) << cells[0] << std::right;
		for (size_t i = 1; i < cells.size(); i++) {
			std::cout << std::setw(11) << cells[i];
		}
		std::cout << (limit.empty() ? "" : "  ") << limit << std::endl;
	}

	std::map<size_t, SimulatedQuery> totals_;
};

ordered_json DescribeConfig(const SimulateOptions &options, const Suite &suite) {
	ordered_json config;
	config["data"] = suite.data;
	config["runs"] = options.runs;
	config["gigabits_per_second"] = options.gigabits_per_second;
	config["latency_us"] = options.latency_us;
	config["network_cpu_s_per_gigabyte"] = options.cpu_s_per_gigabyte;
	config["settings"] = options.settings;
	return config;
}

ordered_json Report(const SimulateOptions &options, const Suite &suite, const std::vector<SimulatedQuery> &queries,
					const SimulationTable &table) {
	ordered_json report;
	report["suite"] = suite.name;
	report["scale"] = suite.scale ? ordered_json(*suite.scale) : ordered_json(nullptr);
	report["machine"] = DescribeMachine();
	report["versions"]["skein"] = Version();
	report["versions"]["duckdb"] = duckdb::DuckDB::LibraryVersion();
	report["config"] = DescribeConfig(options, suite);
	report["simulations"] = ordered_json::array();
	for (auto &query : queries) {
		report["simulations"].push_back(query.ToJson());
	}
	report["totals"] = ordered_json::array();
	for (auto &[tasks, total] : table.Totals()) {
		report["totals"].push_back({{"tasks", tasks},
									{"alone_cpu_s", total.alone_s},
									{"tasks_cpu_s", total.simulation.cpu_s},
									{"session_s", total.measured.session_s},
									{"time_s", total.simulation.total_s},
									{"efficiency", total.Efficiency()}});
	}
	return report;
}

ExitCode RunSimulate(const SimulateOptions &options) {
	std::optional<Output> out;
	if (!options.out.empty()) {
		out.emplace(options.out);
	}
	TaskRunner runner(options);
	auto suite = runner.Open();
	std::vector<SimulatedQuery> queries;
	SimulationTable table;
	for (auto &query : suite.queries) {
		auto alone_s = runner.MeasureAlone(query.sql);
		for (auto tasks : options.tasks) {
			SimulatedQuery entry{query.name, tasks, alone_s, runner.Measure(query.sql, tasks), {}};
			entry.simulation = Simulate(entry.measured, tasks, options.Network(), alone_s);
			table.Print(entry);
			queries.push_back(std::move(entry));
		}
	}
	table.PrintTotals();
	if (out) {
		out->Stream() << Report(options, suite, queries, table).dump(2) << '\n';
		out->Flush();
	}
	return ExitCode::DONE;
}

} // namespace

void AddBenchSimulateCommand(CLI::App &bench, Action &action) {
	auto options = std::make_shared<SimulateOptions>();
	auto command =
		bench.add_subcommand("simulate", "Computes the time of a suite's queries on many machines from tasks "
										 "that are run one at a time here");
	auto &suite = options->suite;
	command->add_option("suite", suite.suite, "tpch, tpcds, or a folder with SQL files")->required();
	command->add_option("--sf", suite.scale, "Scale of tpch and tpcds")->check(CLI::Range(0.001, 100000.0));
	command->add_option("--data", suite.data, "Folder of the tables' folders with Parquet files");
	command->add_option("--queries", suite.queries, "Numbers or names, separated by commas; by default all")
		->delimiter(',')
		->allow_extra_args(false);
	command->add_option("--extension-dir", suite.extension_dir, "Folder of DuckDB's extensions tpch and tpcds");
	command->add_option("--tasks", options->tasks, "Machines, and most tasks of a stage; by default 4,16,64,256")
		->delimiter(',')
		->allow_extra_args(false)
		->check(CLI::Range(1, 4096));
	command->add_option("--runs", options->runs, "Runs of each, of which the cheapest counts")
		->check(CLI::Range(1, 100));
	command->add_option("--bandwidth", options->gigabits_per_second, "Gbit/s of each machine, in each direction")
		->check(CLI::PositiveNumber);
	command->add_option("--latency", options->latency_us, "Microseconds from machine to machine")
		->check(CLI::NonNegativeNumber);
	command->add_option("--network-cpu", options->cpu_s_per_gigabyte, "CPU seconds for a GB that is sent, both ends")
		->check(CLI::NonNegativeNumber);
	command->add_option("--memory-limit", options->memory_limit, "Memory for the tasks, such as 4GB");
	command->add_option("--set", options->settings, "A setting, NAME=VALUE; may be repeated")->allow_extra_args(false);
	command->add_option("--out", options->out, "File for the report as JSON");
	command->callback([&action, options] { action = [options] { return RunSimulate(*options); }; });
}

} // namespace skein::cli
