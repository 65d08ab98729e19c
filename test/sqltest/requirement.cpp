#include "requirement.hpp"

#include "duckdb/common/file_system.hpp"
#include "duckdb/storage/storage_info.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace skein::test {
namespace {

using duckdb::StringUtil;

//! Names without argument.
const std::map<std::string, bool> &Properties() {
	static const std::map<std::string, bool> PROPERTIES{
		{"notmusl", true},
		{"notmingw", true},
		{"mingw", false},
		{"notwindows", true},
		{"windows", false},
		{"longdouble", true},
		{"64bit", true},
		{"noforcestorage", true},
		{"no_force_storage", true},
		{"nothreadsan", true},
		{"strinline", true},
		{"skip_reload", true},
		{"no_alternative_verify", true},
		{"no_latest_storage", true},
		{"no_vector_verification", true},
		{"no_extension_autoloading", true},
		{"allow_unsigned_extensions", true},
		{"vacuum_rebuild_indexes", false},
	};
	return PROPERTIES;
}

std::optional<duckdb::idx_t> ParseNumber(const std::string &text) {
	if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) {
		return std::nullopt;
	}
	return std::stoull(text);
}

//! For names with a size as their argument; nothing for other names.
std::optional<bool> CheckSize(const std::string &name, const std::string &argument) {
	if (name == "ram" || name == "disk_space") {
		auto available =
			name == "ram" ? duckdb::FileSystem::GetAvailableMemory() : duckdb::FileSystem::GetAvailableDiskSpace(".");
		return available.IsValid() && available.GetIndex() >= duckdb::DBConfig::ParseMemoryLimit(argument);
	}
	auto number = ParseNumber(argument);
	if (name == "vector_size") {
		return number && *number <= STANDARD_VECTOR_SIZE;
	}
	if (name == "exact_vector_size") {
		return number && *number == STANDARD_VECTOR_SIZE;
	}
	if (name == "block_size") {
		return number && *number == DEFAULT_BLOCK_ALLOC_SIZE;
	}
	return std::nullopt;
}

} // namespace

bool IsFulfilled(const std::vector<std::string> &words, Lane &plain, Lane &skein) {
	auto name = StringUtil::Lower(words[0]);
	auto property = Properties().find(name);
	if (property != Properties().end()) {
		return property->second;
	}
	if (auto fulfilled = CheckSize(name, words.size() > 1 ? words[1] : "")) {
		return *fulfilled;
	}
	return plain.LoadExtension(name) && skein.LoadExtension(name);
}

} // namespace skein::test
