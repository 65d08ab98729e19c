#pragma once

#include "engine/scan_file.hpp"

#include "duckdb/storage/object_cache.hpp"

#include <list>
#include <memory>
#include <mutex>

namespace duckdb {
class AttachedDatabase;
} // namespace duckdb

namespace skein {

//! What makes a database file the same one later and elsewhere.
struct DatabaseVersion {
	FileVersion file;
	//! As DuckDB has written them into the file: of the database, and how often it has been written.
	std::string identifier;
	uint64_t checkpoint = 0;
};

//! Of an attached file, with the size and time that the file has now; nothing if there is none.
std::optional<DatabaseVersion> VersionOf(duckdb::AttachedDatabase &database);

//! The database files that tasks read on one DuckDB instance: each is attached read only and once, hidden from SQL.
//!
//! Owned by the instance's object cache and by those who use a file. Thread-safe; who opens a file waits for whoever
//! opens another. A file is closed when nobody uses it, so that it can be written again.
class DatabaseFiles final : public duckdb::ObjectCacheEntry {
public:
	//! One use of an open file.
	class Use {
	public:
		Use(duckdb::shared_ptr<DatabaseFiles> files, duckdb::shared_ptr<duckdb::AttachedDatabase> database);
		~Use();

		duckdb::AttachedDatabase &Database() const {
			return *database_;
		}

	private:
		const duckdb::shared_ptr<DatabaseFiles> files_;
		duckdb::shared_ptr<duckdb::AttachedDatabase> database_;
	};

	//! From now on files of the instance stay open when nobody uses them. For an instance in the process of a session:
	//! to close a file would end the locks that the session has on it, as POSIX has it. Of very many files those least
	//! lately used are closed.
	static void KeepOpen(duckdb::DatabaseInstance &instance);

	//! Opens the database in the file at `path` on the instance of `context`, in whose transaction it is read. Throws
	//! IOException if the file is missing or not the one that was `planned`.
	static std::unique_ptr<Use> Open(duckdb::ClientContext &context, const std::string &path,
									 const DatabaseVersion &planned);

	static std::string ObjectType() {
		return "skein_database_files";
	}
	std::string GetObjectType() override {
		return ObjectType();
	}
	duckdb::optional_idx GetEstimatedCacheMemory() const override {
		// Never evicted.
		return duckdb::optional_idx();
	}

private:
	struct OpenFile {
		std::string path;
		//! When it was opened.
		FileVersion version;
		duckdb::shared_ptr<duckdb::AttachedDatabase> database;
		size_t uses = 0;
	};
	using Closed = std::list<OpenFile>;

	static duckdb::shared_ptr<DatabaseFiles> Of(duckdb::DatabaseInstance &instance);
	//! The file with one use more.
	duckdb::shared_ptr<duckdb::AttachedDatabase> OpenLocked(duckdb::ClientContext &context, const std::string &path,
															const FileVersion &version);
	//! Takes the files out that nobody uses and that need not be kept.
	Closed TakeUnusedLocked();
	void Return(duckdb::AttachedDatabase &database);

	std::mutex mutex_;
	bool keep_open_ = false;
	//! How many files have been opened; makes their names in DuckDB unique.
	uint64_t opened_ = 0;
	//! The one used last comes first. Whoever has a file from here holds it in use: nobody gets one that is being
	//! closed.
	std::list<OpenFile> files_;
};

} // namespace skein
