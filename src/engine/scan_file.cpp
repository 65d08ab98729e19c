#include "engine/scan_file.hpp"

#include "duckdb/common/compressed_file_system.hpp"
#include "duckdb/common/file_system.hpp"
#include "duckdb/common/open_file_info.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A file is left to DuckDB's binder if its list says more about it than this.
bool IsKnownFileOption(const string &name) {
	switch (name.size()) {
	case 4:
		return name == "type" || name == "etag";
	case 9:
		// The region is where a list was found; who opens a file by its path finds it, too.
		return name == "file_size" || name == "s3_region";
	default:
		return name == "last_modified";
	}
}

//! Whether a path is of a file system that only the session has, such as one that a client brought: neither the
//! machine's nor one of DuckDB's extensions.
bool IsOfSession(const string &path) {
	return path[0] != '/' && !StringUtil::StartsWith(path, "file:") && path.find("://") != string::npos &&
		   !FileSystem::IsRemoteFile(path);
}

} // namespace

std::optional<FileVersion> ListedVersion(const OpenFileInfo &file) {
	if (!file.extended_info) {
		return std::nullopt;
	}
	FileVersion version;
	auto is_file = false, has_size = false, has_time = false;
	// There are few: to look at all of them is quicker than to look some up.
	for (auto &option : file.extended_info->options) {
		auto &name = option.first;
		if (name == "type") {
			is_file = StringValue::Get(option.second) == "file";
		} else if (name == "file_size") {
			version.size = option.second.GetValue<idx_t>();
			has_size = true;
		} else if (name == "last_modified") {
			version.last_modified = option.second.GetValue<timestamp_t>();
			has_time = true;
		} else if (name == "etag") {
			version.tag = StringValue::Get(option.second);
		}
	}
	return is_file && has_size && has_time ? std::optional(std::move(version)) : std::nullopt;
}

FileVersion VersionOf(FileHandle &handle) {
	auto compressed = dynamic_cast<CompressedFile *>(&handle);
	auto &stored = compressed ? *compressed->child_handle : handle;
	FileVersion version;
	version.size = stored.GetFileSize();
	version.last_modified = stored.file_system.GetLastModifiedTime(stored);
	if (FileSystem::IsRemoteFile(stored.GetPath())) {
		version.tag = stored.file_system.GetVersionTag(stored);
	}
	return version;
}

bool WasWrittenLately(timestamp_t last_modified, timestamp_t read_at) {
	constexpr int64_t LATELY = 2 * Interval::MICROS_PER_SEC;
	return !Timestamp::IsFinite(last_modified) || last_modified.value + LATELY >= read_at.value;
}

void ThrowFileChanged(const string &path, const string &what) {
	throw IOException("file \"%s\" changed between planning and reading: %s. Run the query again; all workers must see "
					  "the same files",
					  path, what);
}

void CheckVersion(const string &path, const FileVersion &planned, const FileVersion &found) {
	if (found.size != planned.size) {
		ThrowFileChanged(path, StringUtil::Format("it had %llu bytes and has %llu", planned.size, found.size));
	}
	// A store's tag says more than its clock; not every way to ask a store gives one.
	if (!planned.tag.empty() && !found.tag.empty()) {
		auto planned_tag = StringUtil::Replace(planned.tag, "\"", "");
		auto found_tag = StringUtil::Replace(found.tag, "\"", "");
		if (planned_tag != found_tag) {
			ThrowFileChanged(path, StringUtil::Format("its version was %s and is %s", planned_tag, found_tag));
		}
	} else if (found.last_modified != planned.last_modified && Timestamp::IsFinite(planned.last_modified) &&
			   Timestamp::IsFinite(found.last_modified)) {
		ThrowFileChanged(path, StringUtil::Format("it was last modified at %s and now at %s",
												  Timestamp::ToString(planned.last_modified),
												  Timestamp::ToString(found.last_modified)));
	}
}

void ExplainFailure(ClientContext &context, const string &path, const FileVersion &planned, const ErrorData &error) {
	if (error.Type() == ExceptionType::INTERRUPT || error.Type() == ExceptionType::OUT_OF_MEMORY) {
		return;
	}
	idx_t size;
	try {
		auto &file_system = FileSystem::GetFileSystem(context);
		size = file_system.OpenFile(path, FileFlags::FILE_FLAGS_READ)->GetFileSize();
	} catch (std::exception &ex) {
		throw IOException("file \"%s\" was there at planning and cannot be opened where it is to be read: %s", path,
						  ErrorData(ex).RawMessage());
	}
	if (size != planned.size) {
		ThrowFileChanged(path, StringUtil::Format("it had %llu bytes and has %llu", planned.size, size));
	}
}

string AbsolutePath(ClientContext &context, const string &path) {
	if (StringUtil::StartsWith(path, "/") || StringUtil::StartsWith(path, "file:") || FileSystem::IsRemoteFile(path)) {
		return string();
	}
	auto &file_system = FileSystem::GetFileSystem(context);
	auto expanded = file_system.ExpandPath(path);
	if (!file_system.IsPathAbsolute(expanded)) {
		expanded = file_system.JoinPath(FileSystem::GetWorkingDirectory(), expanded);
	}
	return expanded == path ? string() : expanded;
}

string ReasonAgainstFile(const OpenFileInfo &file) {
	if (IsOfSession(file.path)) {
		return "file \"" + file.path + "\" is read through a file system that the workers do not have";
	}
	if (!file.extended_info) {
		return string();
	}
	for (auto &option : file.extended_info->options) {
		if (!IsKnownFileOption(option.first)) {
			return "file \"" + file.path + "\" is opened with the option \"" + option.first + "\"";
		}
	}
	return string();
}

} // namespace skein
