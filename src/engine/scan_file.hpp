#pragma once

#include "duckdb.hpp"

#include <optional>
#include <string>

namespace duckdb {
class FileHandle;
struct OpenFileInfo;
} // namespace duckdb

namespace skein {

//! What makes a file the same file later and elsewhere.
struct FileVersion {
	//! Bytes of the whole file, as it is stored.
	duckdb::idx_t size = 0;
	//! As precise as DuckDB knows it: seconds on local disks.
	duckdb::timestamp_t last_modified{0};
	//! What an object store says beside the time (ETag); empty for local files, whose tags differ between machines.
	std::string tag;
};

//! A file of a scan, as seen at planning.
struct ScanFile {
	//! As the query sees it, in `filename` and in hive partitions.
	std::string path;
	//! `path` made absolute, if it is local and that is another one.
	std::string absolute_path;
	FileVersion version;

	//! The path by which any process opens it.
	const std::string &OpenPath() const {
		return absolute_path.empty() ? path : absolute_path;
	}
};

//! What the list that a file is from says of its version, as a folder's list does; nothing if it is no regular file.
std::optional<FileVersion> ListedVersion(const duckdb::OpenFileInfo &file);
//! The version of an open file; of a compressed one, as it is stored.
FileVersion VersionOf(duckdb::FileHandle &handle);

//! Whether a file that was read from `read_at` on had been written so shortly before, within two seconds, that it could
//! be written again and keep its time: times are known by the second.
bool WasWrittenLately(duckdb::timestamp_t last_modified, duckdb::timestamp_t read_at);

//! Throws the duckdb::IOException of a file that changed between planning and reading; `what` says how.
[[noreturn]] void ThrowFileChanged(const std::string &path, const std::string &what);
//! Throws it if `found` is not the file that was `planned`.
void CheckVersion(const std::string &path, const FileVersion &planned, const FileVersion &found);

//! Throws a better error than `error`, which opening the file gave, if there is one.
void ExplainFailure(duckdb::ClientContext &context, const std::string &path, const FileVersion &planned,
					const duckdb::ErrorData &error);

//! The path by which any process opens a file; empty if it is `path` itself, as that of a file of another machine.
std::string AbsolutePath(duckdb::ClientContext &context, const std::string &path);

//! Why a task may not open a listed file by its path; empty if it may, for a remote file with its extension and
//! secrets.
std::string ReasonAgainstFile(const duckdb::OpenFileInfo &file);

} // namespace skein
