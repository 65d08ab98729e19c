#include "tpc_data.hpp"

#include "exit_code.hpp"
#include "session.hpp"
#include "sql_input.hpp"
#include "table_files.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

namespace skein::cli {
namespace {

namespace fs = std::filesystem;
using duckdb::idx_t;
using duckdb::SQLString;
using duckdb::StringUtil;

constexpr const char *DESCRIPTION_FILE = "suite.json";
constexpr const char *PARTIAL_SUFFIX = ".partial-";

const std::vector<TpcKind> KINDS{
	{"tpch",
	 "TPC-H",
	 "dbgen",
	 true,
	 {{"customer", 2},
	  {"lineitem", 8},
	  {"nation", 1},
	  {"orders", 4},
	  {"part", 2},
	  {"partsupp", 4},
	  {"region", 1},
	  {"supplier", 1}}},
	{"tpcds",
	 "TPC-DS",
	 "dsdgen",
	 false,
	 {{"call_center", 1},
	  {"catalog_page", 1},
	  {"catalog_returns", 2},
	  {"catalog_sales", 4},
	  {"customer", 2},
	  {"customer_address", 1},
	  {"customer_demographics", 2},
	  {"date_dim", 1},
	  {"household_demographics", 1},
	  {"income_band", 1},
	  {"inventory", 4},
	  {"item", 1},
	  {"promotion", 1},
	  {"reason", 1},
	  {"ship_mode", 1},
	  {"store", 1},
	  {"store_returns", 2},
	  {"store_sales", 8},
	  {"time_dim", 1},
	  {"warehouse", 1},
	  {"web_page", 1},
	  {"web_returns", 2},
	  {"web_sales", 4},
	  {"web_site", 1}}},
};

std::string ScaleText(double scale) {
	return nlohmann::json(std::floor(scale) == scale ? nlohmann::json(int64_t(scale)) : nlohmann::json(scale)).dump();
}

//! Throws when the folder says that it holds another suite or scale.
void CheckDescription(const TpcKind &kind, double scale, const std::string &folder) {
	auto file = fs::path(folder) / DESCRIPTION_FILE;
	if (!fs::exists(file)) {
		return;
	}
	auto description = nlohmann::json::parse(ReadFile(file), nullptr, false);
	if (description.is_discarded() || description.value("suite", "") != kind.name ||
		description.value("scale", 0.0) != scale) {
		throw CommandError(ExitCode::WRONG_USAGE, "'" + folder + "' does not hold " + kind.title + " at scale " +
													  ScaleText(scale) + ": name another folder with --data");
	}
}

//! Removes what generators of this folder left that were killed.
void RemoveAbandoned(const fs::path &folder) {
	auto prefix = folder.filename().string() + PARTIAL_SUFFIX;
	std::vector<fs::path> abandoned;
	for (auto &entry : fs::directory_iterator(folder.parent_path())) {
		auto name = entry.path().filename().string();
		auto process = StringUtil::StartsWith(name, prefix) ? std::atoi(name.c_str() + prefix.size()) : 0;
		if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) {
			abandoned.push_back(entry.path());
		}
	}
	for (auto &path : abandoned) {
		fs::remove_all(path);
	}
}

//! A folder that is removed unless it is moved to its place.
class PartialFolder {
public:
	explicit PartialFolder(const fs::path &target)
		: target_(target), path_(target.string() + PARTIAL_SUFFIX + std::to_string(getpid())) {
		fs::create_directories(path_);
	}
	~PartialFolder() {
		std::error_code ignored;
		fs::remove_all(path_, ignored);
	}
	const fs::path &Path() const {
		return path_;
	}
	//! Returns whether that was possible; it is not when there is something in the target's place.
	bool MoveToTarget() {
		std::error_code error;
		fs::rename(path_, target_, error);
		return !error;
	}

private:
	fs::path target_;
	fs::path path_;
};

} // namespace

const TpcKind &FindTpcKind(const std::string &name) {
	for (auto &kind : KINDS) {
		if (kind.name == name) {
			return kind;
		}
	}
	throw duckdb::InternalException("no TPC suite %s", name);
}

std::string DefaultDataFolder(const TpcKind &kind, double scale) {
	return std::string("data/") + kind.name + "-sf" + ScaleText(scale);
}

bool HasTpcData(const TpcKind &kind, double scale, const std::string &folder) {
	if (!fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder))) {
		return false;
	}
	for (auto &table : kind.tables) {
		if (!HasTableFiles(fs::path(folder) / table.name)) {
			throw CommandError(ExitCode::WRONG_USAGE, "'" + folder + "' holds no Parquet files of the table " +
														  table.name +
														  ": remove it, or name another folder with --data");
		}
	}
	CheckDescription(kind, scale, folder);
	return true;
}

TpcGenerator::TpcGenerator(const TpcKind &kind, double scale, const std::string &extension, Interrupt &interrupt)
	: kind_(kind), scale_(scale), extension_(extension), interrupt_(interrupt) {
}

void TpcGenerator::Generate(const std::string &folder) {
	auto target = fs::absolute(folder).lexically_normal();
	if (!target.has_filename()) {
		target = target.parent_path();
	}
	std::cerr << "Generating " << kind_.title << " at scale " << ScaleText(scale_) << " in " << folder << " ...\n";
	fs::create_directories(target.parent_path());
	RemoveAbandoned(target);
	PartialFolder partial(target);
	auto database_file = partial.Path() / "generator.duckdb";
	{
		duckdb::DuckDB database(database_file.string());
		duckdb::Connection connection(database);
		interrupt_.Watch(connection);
		Query(connection, StringUtil::Format("LOAD %s", SQLString(extension_)));
		Fill(connection);
		for (auto &table : kind_.tables) {
			interrupt_.Check();
			Export(connection, table, partial.Path() / table.name);
		}
	}
	fs::remove(database_file);
	fs::remove(database_file.string() + ".wal");
	Describe(partial.Path());
	// Another process may have been faster; what it has made is as good.
	if (!partial.MoveToTarget() && !HasTpcData(kind_, scale_, folder)) {
		throw CommandError(ExitCode::FAILED, "cannot make the folder '" + folder + "'");
	}
	std::cerr << "Generated " << folder << '\n';
}

void TpcGenerator::Fill(duckdb::Connection &connection) {
	// In parts of about one unit of scale, so that memory stays small and Ctrl-C is heard.
	auto steps = kind_.has_steps ? std::max<int64_t>(1, std::llround(scale_)) : 1;
	for (int64_t step = 0; step < steps; step++) {
		interrupt_.Check();
		auto sql = StringUtil::Format("CALL %s(sf=%s", kind_.generator, ScaleText(scale_));
		if (steps > 1) {
			sql += StringUtil::Format(", children=%d, step=%d", steps, step);
		}
		Query(connection, sql + ")");
	}
}

void TpcGenerator::Export(duckdb::Connection &connection, const TpcTable &table, const std::string &folder) {
	fs::create_directories(folder);
	auto rows = Query(connection, StringUtil::Format("SELECT count(*) FROM %s", table.name))->GetValue<int64_t>(0, 0);
	auto files = std::max<int64_t>(1, std::min<int64_t>(static_cast<int64_t>(table.files), rows));
	for (int64_t file = 0; file < files; file++) {
		auto path = fs::path(folder) / (std::to_string(file) + ".parquet");
		Query(connection,
			  StringUtil::Format("COPY (SELECT * FROM %s WHERE rowid >= %d AND rowid < %d) TO %s (FORMAT parquet)",
								 table.name, rows * file / files, rows * (file + 1) / files, SQLString(path.string())));
	}
	std::cerr << "  " << table.name << ": " << rows << " rows in " << files << (files == 1 ? " file\n" : " files\n");
}

void TpcGenerator::Describe(const std::string &folder) {
	nlohmann::ordered_json description;
	description["suite"] = kind_.name;
	description["scale"] = scale_;
	description["duckdb"] = duckdb::DuckDB::LibraryVersion();
	std::ofstream(fs::path(folder) / DESCRIPTION_FILE) << description.dump() << '\n';
}

} // namespace skein::cli
