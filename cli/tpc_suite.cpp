#include "tpc_suite.hpp"

#include "executable_folder.hpp"
#include "exit_code.hpp"
#include "session.hpp"
#include "table_files.hpp"
#include "tpc_data.hpp"

#include <cstdlib>
#include <filesystem>

namespace skein::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> ExtensionFolders(const std::string &extension_dir) {
	if (!extension_dir.empty()) {
		return {extension_dir};
	}
	std::vector<fs::path> folders;
	if (auto folder = std::getenv("SKEIN_EXTENSIONS")) {
		folders.emplace_back(folder);
	}
	folders.push_back(ExecutableFolder() / "extensions");
	folders.emplace_back(SKEIN_DUCKDB_ROOT "/extensions");
	return folders;
}

std::string FindExtension(const std::string &name, const std::string &extension_dir) {
	std::string tried;
	for (auto &folder : ExtensionFolders(extension_dir)) {
		auto file = folder / (name + ".duckdb_extension");
		if (fs::exists(file)) {
			return file;
		}
		tried += (tried.empty() ? "" : ", ") + folder.string();
	}
	throw CommandError(ExitCode::FAILED,
					   "no " + name + ".duckdb_extension in " + tried + ": name its folder with --extension-dir");
}

void LoadExtension(duckdb::Connection &connection, const std::string &file) {
	auto result = connection.Query(duckdb::StringUtil::Format("LOAD %s", duckdb::SQLString(file)));
	if (result->HasError()) {
		auto reason = duckdb::StringUtil::Split(result->GetErrorObject().RawMessage(), '\n');
		throw CommandError(ExitCode::FAILED, "cannot load " + file + ": " + (reason.empty() ? "" : reason[0]));
	}
}

std::vector<SuiteQuery> ReadQueries(duckdb::Connection &connection, const std::string &suite) {
	auto result = Query(connection, "SELECT query_nr, query FROM " + suite + "_queries() ORDER BY query_nr");
	std::vector<SuiteQuery> queries;
	for (duckdb::idx_t row = 0; row < result->RowCount(); row++) {
		auto number = result->GetValue(0, row).GetValue<uint64_t>();
		queries.push_back({number, "q" + std::to_string(number), result->GetValue(1, row).GetValue<std::string>()});
	}
	return queries;
}

} // namespace

Suite OpenTpcSuite(const SuiteOptions &options, Interrupt &interrupt) {
	// A database of its own: what is loaded there does not concern the session.
	duckdb::DuckDB database(nullptr);
	duckdb::Connection connection(database);
	auto extension = FindExtension(options.suite, options.extension_dir);
	LoadExtension(connection, extension);

	auto &kind = FindTpcKind(options.suite);
	Suite suite;
	suite.name = options.suite;
	suite.scale = options.scale;
	suite.data = options.data.empty() ? DefaultDataFolder(kind, options.scale) : options.data;
	suite.queries = ReadQueries(connection, options.suite);
	for (auto &table : kind.tables) {
		suite.tables.push_back(table.name);
	}
	if (!HasTpcData(kind, options.scale, suite.data)) {
		TpcGenerator(kind, options.scale, extension, interrupt).Generate(suite.data);
	}
	return suite;
}

} // namespace skein::cli
