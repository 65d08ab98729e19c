#include "engine/remote_files.hpp"

#include "duckdb/common/file_system.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/main/secret/secret.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "engine/task_secrets.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! What the session has set of the options that extensions brought, but for Skein's own and those that always travel.
std::vector<std::pair<string, string>> ExtensionSettings(ClientContext &context) {
	std::vector<std::pair<string, string>> result;
	auto &config = DBConfig::GetConfig(context);
	for (auto &entry : config.GetExtensionSettings()) {
		auto &name = entry.first;
		optional_ptr<const ConfigurationOption> option;
		auto index = config.TryGetSettingIndex(name, option);
		auto travels = StringUtil::StartsWith(name, "skein_") || name == "TimeZone" || name == "Calendar";
		Value value;
		if (!travels && index.IsValid() && context.TryGetCurrentUserSetting(index.GetIndex(), value) &&
			!value.IsNull()) {
			result.emplace_back(name, value.ToString());
		}
	}
	std::sort(result.begin(), result.end());
	return result;
}

} // namespace

std::string ExtensionFor(const std::string &path) {
	string extension;
	// Most paths are of the machine, and there may be many.
	if (path.empty() || path[0] == '/' || !FileSystem::IsRemoteFile(path, extension)) {
		return {};
	}
	return extension;
}

RemoteFiles::RemoteFiles(ClientContext &context, std::function<std::string(const std::string &)> reason_against)
	: context_(context), reason_against_(std::move(reason_against)) {
}

std::string RemoteFiles::ReasonAgainst(const LogicalGet &scan) {
	auto bind_data = dynamic_cast<const MultiFileBindData *>(scan.bind_data.get());
	// Lists of both local and remote files are not divided.
	if (!bind_data || !bind_data->file_list || ExtensionFor(bind_data->file_list->GetFirstFile().path).empty()) {
		return {};
	}
	std::set<string> paths;
	for (auto &file : bind_data->file_list->Files()) {
		auto extension = ExtensionFor(file.path);
		if (extension.empty()) {
			continue;
		}
		auto known = reasons_.find(extension);
		if (known == reasons_.end()) {
			known = reasons_.emplace(extension, reason_against_(extension)).first;
		}
		if (!known->second.empty()) {
			return "file \"" + file.path + "\" needs the extension " + extension + ", " + known->second;
		}
		paths.insert(file.path);
	}
	paths_.merge(paths);
	return {};
}

std::optional<RemoteAccess> RemoteFiles::Access() const {
	if (paths_.empty()) {
		return std::nullopt;
	}
	RemoteAccess result;
	result.settings = ExtensionSettings(context_);
	result.secrets = CollectSecrets(context_, [this](const BaseSecret &secret) {
		return std::any_of(paths_.begin(), paths_.end(), [&](const string &path) {
			return secret.MatchScore(path) != NumericLimits<int64_t>::Minimum();
		});
	});
	return result;
}

} // namespace skein
