#include "table_files.hpp"

#include "exit_code.hpp"

#include <algorithm>
#include <filesystem>

namespace skein::cli {

namespace fs = std::filesystem;

bool HasTableFiles(const std::string &folder) {
	if (!fs::is_directory(folder)) {
		return false;
	}
	fs::directory_iterator entries(folder);
	return std::any_of(begin(entries), end(entries),
					   [](auto &entry) { return entry.path().extension() == ".parquet"; });
}

std::vector<std::string> FindTables(const std::string &data) {
	std::vector<std::string> tables;
	if (fs::is_directory(data)) {
		for (auto &entry : fs::directory_iterator(data)) {
			if (HasTableFiles(entry.path())) {
				tables.push_back(entry.path().filename());
			}
		}
	}
	if (tables.empty()) {
		throw CommandError(ExitCode::WRONG_USAGE, "no tables in '" + data + "': expected folders with Parquet files");
	}
	std::sort(tables.begin(), tables.end());
	return tables;
}

} // namespace skein::cli
