#include "stress_run.hpp"

#include "tables.hpp"

#include "extension/session.hpp"
#include "skein/skein.hpp"

#include <stdexcept>
#include <thread>

namespace skein::test {
namespace {

void Set(duckdb::Connection &connection, const std::string &name, const std::string &value) {
	auto outcome = RunSql(connection, "SET " + name + " = " + duckdb::Value(value).ToSQLString());
	if (!outcome.answer) {
		throw std::runtime_error("cannot set " + name + ": " + outcome.ErrorLine());
	}
}

//! Every task that runs has operators with memory of their own: for more of them at the same time there is not enough.
constexpr size_t MOST_CLIENTS_WITH_LITTLE_MEMORY = 4;
constexpr size_t MOST_TASKS_WITH_LITTLE_MEMORY = 4;

ClusterShape MakeShape(uint64_t seed, fuzz::Random &random) {
	ClusterShape shape;
	shape.grpc = random.Chance(30);
	shape.workers = random.Pick<size_t>({1, 2, 3, 3, 4, 7, 16});
	shape.threads = random.Pick<size_t>({1, 2, 2, 4});
	shape.slots = random.Pick<size_t>({0, 0, 0, 1, 2});
	shape.memory_limit = random.Text({"1GB", "1GB", "100MB"});
	shape.seed = seed;
	shape.max_delay = std::chrono::microseconds(random.Pick<int64_t>({0, 100, 1000, 1000, 5000, 20000}));
	return shape;
}

} // namespace

StressPlan StressPlan::Make(uint64_t seed, const std::string &only, size_t clients) {
	fuzz::Random random(seed);
	StressPlan plan;
	plan.seed = seed;
	plan.shape = MakeShape(seed, random);
	plan.settings = {
		{"skein_page_bytes", random.Text({"1", "1", "1", "200", "1MiB"})},
		{"skein_buffer_bytes", random.Text({"1", "1", "1", "5000", "256MiB"})},
		{"skein_join", random.Text({"auto", "broadcast", "shuffle"})},
		{"skein_max_tasks", random.Text({"0", "0", "3", "7", "13"})},
		{"skein_compression", random.Text({"auto", "none", "lz4"})},
		{"skein_work_stealing", random.Text({"off", "auto", "force"})},
		{"skein_debug_unit_delay", random.Text({"", "", "0:1 ms", "2:3 ms"})},
		{"preserve_insertion_order", random.Text({"true", "false"})},
	};
	auto &all = AllScenarios();
	plan.scenario = all[random.Below(all.size())];
	for (auto &scenario : all) {
		if (scenario.name == only) {
			plan.scenario = scenario;
		}
	}
	if (clients > 0) {
		plan.scenario.clients = clients;
	}
	auto running_tasks = plan.shape.slots * plan.shape.workers;
	if (plan.scenario.needs_memory || plan.scenario.clients > MOST_CLIENTS_WITH_LITTLE_MEMORY || running_tasks == 0 ||
		running_tasks > MOST_TASKS_WITH_LITTLE_MEMORY) {
		plan.shape.memory_limit = "4GB";
	}
	return plan;
}

std::string StressPlan::Describe() const {
	auto text = "seed " + std::to_string(seed) + ": " + scenario.name + ", " + std::to_string(scenario.clients) +
				" clients, " + shape.Describe();
	for (auto &[name, value] : settings) {
		text += ", " + name + "=" + value;
	}
	return text;
}

StressRun::StressRun(const StressPlan &plan, ExpectedAnswers &expected, const std::string &folder)
	: plan_(plan), expected_(expected), folder_(folder), cluster_(plan.shape) {
}

std::vector<std::string> StressRun::Execute() {
	{
		duckdb::DBConfig config;
		config.SetOptionByName("threads", duckdb::Value::UBIGINT(plan_.shape.threads));
		duckdb::DuckDB database(nullptr, &config);
		AttachOptions options;
		options.transport = cluster_.GetTransport();
		Attach(*database.instance, options);
		duckdb::Connection connection(database);
		OpenStressTables(connection, folder_);
		std::vector<std::thread> clients;
		for (size_t client = 0; client < plan_.scenario.clients; client++) {
			clients.emplace_back([this, &database, client] { RunClient(database, client); });
		}
		for (auto &client : clients) {
			client.join();
		}
		if (!plan_.shape.grpc) {
			// Its tasks may hold pages in the memory of this database.
			StopCluster();
		}
	}
	StopCluster();
	std::lock_guard<std::mutex> guard(mutex_);
	return findings_;
}

void StressRun::StopCluster() {
	auto left = cluster_.Stop();
	if (!left.empty()) {
		Note("left behind: " + left);
	}
}

void StressRun::RunClient(duckdb::DuckDB &database, size_t client) {
	try {
		fuzz::Random random(plan_.seed, client + 1);
		duckdb::Connection connection(database);
		for (auto *settings : {&plan_.settings, &plan_.scenario.settings}) {
			for (auto &[name, value] : *settings) {
				Set(connection, name, value);
			}
		}
		Set(connection, "skein_mode", "force");
		// A machine that is busy, or a process that was stopped for a while, is no lost worker.
		Set(connection, "skein_connect_timeout", "5 minutes");
		Set(connection, "skein_heartbeat_interval", "1 minute");
		Set(connection, "skein_cluster", cluster_.AddressList());
		for (size_t i = 0; i < plan_.scenario.queries_of_a_client; i++) {
			auto &sql = random.Pick(plan_.scenario.queries);
			{
				std::lock_guard<std::mutex> guard(mutex_);
				running_[client] = sql;
			}
			if (plan_.scenario.abandons && random.Chance(40)) {
				Abandon(connection, sql, random);
			}
			if (auto finding = RunQuery(connection, sql)) {
				Note(*finding + ": " + sql);
			}
			queries_++;
		}
	} catch (const std::exception &error) {
		Note(std::string("failed: ") + duckdb::ErrorData(error).Message());
	}
	std::lock_guard<std::mutex> guard(mutex_);
	running_.erase(client);
}

std::optional<std::string> StressRun::RunQuery(duckdb::Connection &connection, const std::string &sql) {
	auto outcome = RunSql(connection, sql);
	auto last = Session::Get(*connection.context)->Last();
	if (auto difference = expected_.FindDifference(sql, outcome)) {
		return difference;
	}
	if (!last.distributed) {
		return "not distributed: " + last.reason;
	}
	return std::nullopt;
}

void StressRun::Abandon(duckdb::Connection &connection, const std::string &sql, fuzz::Random &random) {
	if (random.Chance(50)) {
		auto result = connection.SendQuery(sql);
		if (!result->HasError()) {
			result->Fetch();
		}
		return;
	}
	auto pending = connection.PendingQuery(sql, true);
	auto steps = random.Below(200);
	for (size_t i = 0; i < steps && !pending->HasError(); i++) {
		if (duckdb::PendingQueryResult::IsResultReady(pending->ExecuteTask())) {
			break;
		}
	}
	connection.Interrupt();
}

void StressRun::Note(const std::string &finding) {
	std::lock_guard<std::mutex> guard(mutex_);
	findings_.push_back(finding);
}

std::string StressRun::Describe() {
	std::string text;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &[client, sql] : running_) {
			text += "client " + std::to_string(client) + " runs " + sql + "\n";
		}
	}
	return text + cluster_.Describe();
}

} // namespace skein::test
