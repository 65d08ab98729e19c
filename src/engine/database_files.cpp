#include "engine/database_files.hpp"

#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/database_manager.hpp"
#include "duckdb/parser/parsed_data/attach_info.hpp"
#include "duckdb/storage/single_file_block_manager.hpp"
#include "duckdb/storage/storage_manager.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace skein {

using namespace duckdb;

namespace {

constexpr size_t MAX_KEPT_OPEN = 64;

//! Without opening the file: to close it again would end all locks that this process has on it.
std::optional<FileVersion> FileAt(const string &path) {
	struct stat status;
	if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
		return std::nullopt;
	}
	FileVersion version;
	version.size = static_cast<idx_t>(status.st_size);
	version.last_modified = timestamp_t(status.st_mtim.tv_sec * Interval::MICROS_PER_SEC +
										status.st_mtim.tv_nsec / Interval::NANOS_PER_MICRO);
	return version;
}

bool IsSame(const FileVersion &left, const FileVersion &right) {
	return left.size == right.size && left.last_modified == right.last_modified;
}

//! What DuckDB read from the file's headers when it opened the file.
void AddIdentity(AttachedDatabase &database, DatabaseVersion &version) {
	auto &blocks = database.GetStorageManager().GetBlockManager().Cast<SingleFileBlockManager>();
	version.identifier = string(const_char_ptr_cast(blocks.GetDBIdentifier()), MainHeader::DB_IDENTIFIER_LEN);
	version.checkpoint = blocks.GetCheckpointIteration();
}

} // namespace

std::optional<DatabaseVersion> VersionOf(AttachedDatabase &database) {
	auto file = FileAt(database.GetStorageManager().GetDBPath());
	if (!file) {
		return std::nullopt;
	}
	DatabaseVersion version;
	version.file = *file;
	AddIdentity(database, version);
	return version;
}

DatabaseFiles::Use::Use(duckdb::shared_ptr<DatabaseFiles> files, duckdb::shared_ptr<AttachedDatabase> database)
	: files_(std::move(files)), database_(std::move(database)) {
}

DatabaseFiles::Use::~Use() {
	files_->Return(*database_);
}

duckdb::shared_ptr<DatabaseFiles> DatabaseFiles::Of(DatabaseInstance &instance) {
	return instance.GetObjectCache().GetOrCreate<DatabaseFiles>(ObjectType());
}

void DatabaseFiles::KeepOpen(DatabaseInstance &instance) {
	auto files = Of(instance);
	std::lock_guard<std::mutex> guard(files->mutex_);
	files->keep_open_ = true;
}

std::unique_ptr<DatabaseFiles::Use> DatabaseFiles::Open(ClientContext &context, const string &path,
														const DatabaseVersion &planned) {
	auto found = FileAt(path);
	if (!found) {
		throw IOException("database file \"%s\" was there at planning and cannot be opened where it is to be read; all "
						  "workers must see the same files",
						  path);
	}
	CheckVersion(path, planned.file, *found);
	auto files = Of(DatabaseInstance::GetDatabase(context));
	std::unique_ptr<Use> use;
	{
		std::lock_guard<std::mutex> guard(files->mutex_);
		auto database = files->OpenLocked(context, path, *found);
		use = std::make_unique<Use>(files, std::move(database));
	}
	DatabaseVersion version;
	AddIdentity(use->Database(), version);
	if (version.identifier != planned.identifier || version.checkpoint != planned.checkpoint) {
		ThrowFileChanged(path, "it is not the database that the session has attached");
	}
	if (FileAt(use->Database().GetStorageManager().GetWALPath())) {
		ThrowFileChanged(path, "there is a write-ahead log beside it");
	}
	return use;
}

duckdb::shared_ptr<AttachedDatabase> DatabaseFiles::OpenLocked(ClientContext &context, const string &path,
															   const FileVersion &version) {
	auto known = std::find_if(files_.begin(), files_.end(), [&](OpenFile &file) { return file.path == path; });
	if (known != files_.end() && IsSame(known->version, version)) {
		files_.splice(files_.begin(), files_, known);
		known->uses++;
		return known->database;
	}
	if (known != files_.end()) {
		// Closed before it is opened again, so that the lock of the new one stays.
		files_.erase(known);
	}
	AttachInfo info;
	info.name = "skein " + std::to_string(++opened_) + " " + path;
	info.path = path;
	unordered_map<string, Value> no_options;
	duckdb::AttachOptions options(no_options, AccessMode::READ_ONLY);
	auto database = DatabaseInstance::GetDatabase(context).CreateAttachedDatabase(context, info, options);
	database->Initialize(context);
	database->FinalizeLoad(context);
	database->oid = DatabaseManager::Get(context).NextOid();
	files_.push_front({path, version, database, 1});
	return database;
}

DatabaseFiles::Closed DatabaseFiles::TakeUnusedLocked() {
	Closed closed;
	auto kept = keep_open_ ? MAX_KEPT_OPEN : 0;
	for (auto file = files_.end(); files_.size() > kept && file != files_.begin();) {
		auto next = file--;
		if (file->uses == 0) {
			closed.splice(closed.end(), files_, file);
			file = next;
		}
	}
	return closed;
}

void DatabaseFiles::Return(AttachedDatabase &database) {
	Closed closed;
	std::lock_guard<std::mutex> guard(mutex_);
	for (auto &file : files_) {
		if (file.database.get() == &database) {
			file.uses--;
		}
	}
	closed = TakeUnusedLocked();
}

} // namespace skein
