#include "fuzz/contest.hpp"

#include "fuzz/catalog.hpp"

#include "extension/session.hpp"
#include "skein/skein.hpp"

#include "cli/row_matching.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace skein::fuzz {
namespace {

using duckdb::ExceptionType;
using test::Outcome;

//! What plain DuckDB may take.
constexpr std::chrono::seconds PLAIN_LIMIT{3};
constexpr size_t MAX_SHOWN_ROWS = 4;
//! How often plain DuckDB is asked with one thread whether it answers the same: of what varies, one answer in ten does.
constexpr int PLAIN_TRIES = 50;

void MustRun(duckdb::Connection &connection, const std::string &sql) {
	auto outcome = test::RunSql(connection, sql);
	if (!outcome.answer) {
		throw std::runtime_error(sql + ": " + outcome.ErrorLine());
	}
}

std::string Shown(const Outcome &outcome) {
	if (!outcome.answer) {
		return outcome.ErrorLine();
	}
	auto &rows = outcome.answer->rows;
	auto text = std::to_string(rows.size()) + " rows:";
	for (size_t row = 0; row < std::min(rows.size(), MAX_SHOWN_ROWS); row++) {
		text += " " + cli::RowText(rows[row]);
	}
	return text + (rows.size() > MAX_SHOWN_ROWS ? " ..." : "");
}

//! A message without what is not the same each time: numbers, and what is in quotes.
std::string WithoutDetails(const std::string &message) {
	std::string result;
	auto quoted = false;
	for (auto letter : message) {
		if (letter == '"' || letter == '\'') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && !isdigit(static_cast<unsigned char>(letter))) {
			result += letter;
		}
	}
	return result.substr(0, 120);
}

//! Whether it is an error that the engine does not mean to give, like one of a buffer that ends too early. CASE cannot
//! choose between arrays, but fails only if one chunk has rows of both branches; BETWEEN cannot compare structs, but
//! fails only if there are rows.
bool IsUnmeant(const Outcome &outcome) {
	return !outcome.answer &&
		   (outcome.error.Type() == ExceptionType::INVALID || outcome.error.Type() == ExceptionType::INVALID_TYPE ||
			(outcome.error.Type() == ExceptionType::NOT_IMPLEMENTED &&
			 duckdb::StringUtil::Contains(outcome.error.RawMessage(), "type for case expression")));
}

bool RunsOutOfMemory(const Outcome &outcome) {
	return !outcome.answer && outcome.error.Type() == ExceptionType::OUT_OF_MEMORY;
}

//! Whether the instance is of no use any more.
bool IsFatal(const Outcome &outcome) {
	return !outcome.answer &&
		   (outcome.error.Type() == ExceptionType::FATAL || outcome.error.Type() == ExceptionType::INTERNAL);
}

} // namespace

const char *VerdictName(Verdict verdict) {
	switch (verdict) {
	case Verdict::EQUAL:
		return "equal";
	case Verdict::EQUAL_ERROR:
		return "equal error";
	case Verdict::SKIPPED:
		return "skipped";
	case Verdict::UNSTABLE:
		return "unstable";
	case Verdict::DIFFERENT:
		return "different";
	case Verdict::HANG:
		return "hang";
	}
	throw std::logic_error("unknown verdict");
}

//! A database with the tables, and a connection to it.
struct Contest::Lane {
	//! What it is for.
	enum class Use { PLAIN, PLAIN_COPIED, DISTRIBUTED };

	Lane(const std::string &data, Use use, size_t threads, const std::string &memory) {
		auto attach = use == Use::DISTRIBUTED;
		duckdb::DBConfig config;
		config.SetOptionByName("threads", duckdb::Value::BIGINT(static_cast<int64_t>(threads)));
		config.SetOptionByName("autoinstall_known_extensions", false);
		config.SetOptionByName("autoload_known_extensions", false);
		database = duckdb::make_uniq<duckdb::DuckDB>(nullptr, &config);
		if (attach) {
			Attach(*database->instance);
		}
		connection = duckdb::make_uniq<duckdb::Connection>(*database);
		for (auto &statement : TableStatements(data)) {
			MustRun(*connection, statement);
		}
		if (use == Use::PLAIN_COPIED) {
			CopyTables();
		}
		if (!memory.empty()) {
			MustRun(*connection, "SET memory_limit = '" + memory + "'");
		}
		if (attach) {
			MustRun(*connection, "SET skein_mode = 'force'");
		}
	}

	//! Puts tables with the same rows, in the same order, in the place of the views of files: they are read faster.
	void CopyTables() {
		auto views = test::RunSql(*connection, "SELECT view_name FROM duckdb_views() WHERE NOT internal");
		for (auto &row : views.answer->rows) {
			auto name = row[0].ToString();
			MustRun(*connection, "CREATE TABLE copied AS FROM " + name);
			MustRun(*connection, "DROP VIEW " + name);
			MustRun(*connection, "ALTER TABLE copied RENAME TO " + name);
		}
	}

	duckdb::unique_ptr<duckdb::DuckDB> database;
	duckdb::unique_ptr<duckdb::Connection> connection;
	//! What was set last.
	std::map<std::string, std::string> settings;
};

Contest::Contest(Options options)
	: options_(std::move(options)),
	  processes_(options_.processes > 0 ? std::make_unique<test::WorkerProcesses>(options_.skein, options_.processes)
										: nullptr),
	  plain_watchdog_(PLAIN_LIMIT), watchdog_(options_.limit) {
	std::stringstream list(processes_ ? processes_->AddressList() : "");
	for (std::string address; std::getline(list, address, ',');) {
		addresses_.push_back(address);
	}
}

Contest::~Contest() = default;

duckdb::Connection &Contest::Parser() {
	return *PlainLane(1).connection;
}

Contest::Lane &Contest::PlainLane(size_t threads) {
	auto &lane = lanes_["plain " + std::to_string(threads)];
	if (!lane) {
		// The one that answers all queries reads copies, the one that is asked only where answers differ the files.
		auto use = threads == 1 ? Lane::Use::PLAIN_COPIED : Lane::Use::PLAIN;
		lane = std::make_unique<Lane>(options_.data, use, threads, "");
	}
	return *lane;
}

Contest::Lane &Contest::DistributedLane(const FuzzConfiguration &configuration) {
	auto &lane = lanes_[std::to_string(configuration.threads) + " " + configuration.memory];
	if (!lane) {
		lane =
			std::make_unique<Lane>(options_.data, Lane::Use::DISTRIBUTED, configuration.threads, configuration.memory);
	}
	return *lane;
}

void Contest::Configure(Lane &lane, const FuzzConfiguration &configuration) {
	auto set = [&](const std::string &name, const std::string &value) {
		auto &last = lane.settings[name];
		if (last != value) {
			MustRun(*lane.connection, "SET " + name + " = " + duckdb::Value(value).ToSQLString());
			last = value;
		}
	};
	std::string cluster;
	for (size_t i = 0; i < configuration.processes; i++) {
		cluster += (i == 0 ? "" : ",") + addresses_.at(i);
	}
	set("skein_cluster", cluster);
	set("skein_workers", std::to_string(configuration.workers));
	set("skein_max_tasks", std::to_string(configuration.tasks));
	set("skein_join", configuration.join);
	set("skein_page_bytes", configuration.page);
	set("skein_buffer_bytes", configuration.buffer);
}

Outcome Contest::RunPlain(Lane &lane, const std::string &sql, bool &too_slow) {
	test::Watchdog::Watch watch(plain_watchdog_, *lane.connection, "alone: " + sql);
	auto outcome = test::RunSql(*lane.connection, sql);
	too_slow = watch.TimedOut();
	return outcome;
}

Result Contest::Run(const std::string &sql, bool row_order, const FuzzConfiguration &configuration,
					const std::function<void()> &before_distributed) {
	auto too_slow = false;
	auto alone = RunPlain(PlainLane(1), sql, too_slow);
	if (too_slow || IsFatal(alone) || IsUnmeant(alone)) {
		if (IsFatal(alone)) {
			lanes_.erase("plain 1");
		}
		Result result;
		result.verdict = Verdict::SKIPPED;
		result.what = too_slow ? "plain DuckDB takes too long" : alone.ErrorLine();
		return result;
	}
	if (before_distributed) {
		before_distributed();
	}
	auto &lane = DistributedLane(configuration);
	Configure(lane, configuration);
	auto hangs = false;
	Outcome distributed;
	{
		test::Watchdog::Watch watch(watchdog_, *lane.connection, sql);
		distributed = test::RunSql(*lane.connection, sql);
		hangs = watch.TimedOut();
	}
	auto result = Compare(sql, row_order, alone, distributed);
	alone_ = std::make_unique<Outcome>(std::move(alone));
	if (result.verdict == Verdict::DIFFERENT && RunsOutOfMemory(distributed) &&
		PlainRunsOutOfMemory(sql, configuration)) {
		result.verdict = Verdict::EQUAL_ERROR;
		result.what = "plain DuckDB with as many threads and as little memory: " + distributed.ErrorLine();
	}
	if (hangs) {
		result.verdict = Verdict::HANG;
		result.kind = result.what = "hangs";
	}
	{
		// It holds rows of the instance, which may be given up below.
		auto last = Session::Get(*lane.connection->context)->Last();
		result.distributed = last.distributed;
		result.local_reason = last.distributed ? "" : last.reason;
	}
	if (!distributed.answer && distributed.error.Message().find("lost worker") != std::string::npos) {
		lost_worker_ = true;
	}
	if (IsFatal(distributed)) {
		lanes_.erase(std::to_string(configuration.threads) + " " + configuration.memory);
	}
	return result;
}

bool Contest::PlainRunsOutOfMemory(const std::string &sql, const FuzzConfiguration &configuration) {
	if (configuration.memory.empty()) {
		return false;
	}
	// A hash table of DuckDB takes 2 MiB for each thread at once, whatever it holds.
	Lane lane(options_.data, Lane::Use::PLAIN, configuration.workers * configuration.threads, configuration.memory);
	// What the workers of a session have, see docs/architecture.md.
	auto limit = duckdb::DBConfig::ParseMemoryLimit(configuration.memory) / 2;
	MustRun(*lane.connection, "SET memory_limit = '" + std::to_string(limit) + "B'");
	auto too_slow = false;
	return RunsOutOfMemory(RunPlain(lane, sql, too_slow));
}

Result Contest::Compare(const std::string &sql, bool row_order, const Outcome &alone, const Outcome &distributed) {
	Result result;
	result.expected = Shown(alone);
	result.actual = Shown(distributed);
	if (alone.answer && distributed.answer) {
		if (auto difference = FindDifference(sql, row_order, *alone.answer, *distributed.answer)) {
			result.verdict = Verdict::DIFFERENT;
			result.what = *difference;
			result.kind = difference->find("out of order") != std::string::npos ? "order" : "rows";
		}
		return result;
	}
	if (alone.answer || distributed.answer || alone.error.Type() != distributed.error.Type()) {
		result.verdict = Verdict::DIFFERENT;
		result.what = distributed.answer ? "no error, where plain DuckDB has one: " + alone.ErrorLine()
										 : (alone.answer ? "fails: " : "another error: ") + distributed.ErrorLine();
		result.kind = distributed.answer ? "no error" : WithoutDetails(distributed.ErrorLine());
		return result;
	}
	result.verdict = Verdict::EQUAL_ERROR;
	result.what = alone.ErrorLine();
	return result;
}

std::optional<std::string> Contest::FindDifference(const std::string &sql, bool row_order, const cli::Answer &expected,
												   const cli::Answer &actual) {
	if (row_order) {
		std::vector<duckdb::idx_t> all(expected.names.size());
		std::iota(all.begin(), all.end(), duckdb::idx_t(0));
		return cli::FindDifference(expected, actual, all);
	}
	return test::FindDifference(Parser(), sql, expected, actual, [this](const std::string &query) {
		auto too_slow = false;
		return RunPlain(PlainLane(1), query, too_slow);
	});
}

bool Contest::IsStable(const std::string &sql, bool row_order) {
	auto too_slow = false;
	auto &first = *alone_;
	auto differs = [&](Lane &lane) {
		auto again = RunPlain(lane, sql, too_slow);
		if (too_slow) {
			return false;
		}
		if (!first.answer || !again.answer) {
			return first.answer || again.answer || first.error.Type() != again.error.Type();
		}
		return FindDifference(sql, row_order, *first.answer, *again.answer).has_value();
	};
	// A join filters the scan below a LIMIT: without this filter, the LIMIT takes other rows. Late materialization
	// computes the columns of few rows only: without it, other rows may fail.
	for (auto disabled : {"join_filter_pushdown", "late_materialization", "", "", ""}) {
		PlainLane(4).connection->Query("SET disabled_optimizers = '" + std::string(disabled) + "'");
		if (differs(PlainLane(4))) {
			return false;
		}
	}
	// Even one thread takes now these, now those rows for the LIMIT of a UNION ALL.
	for (int tries = 0; tries < PLAIN_TRIES && !too_slow; tries++) {
		if (differs(PlainLane(1))) {
			return false;
		}
	}
	return true;
}

} // namespace skein::fuzz
