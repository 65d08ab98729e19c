#pragma once

#include "engine/scan_file.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

namespace duckdb {
namespace skein_parquet {
struct ParquetDigest;
struct ParquetFileSchema;
} // namespace skein_parquet
} // namespace duckdb

namespace skein {

//! Keeps what planning needs of the footers of Parquet files, so that they are read once and not by every query.
//!
//! Owned by what Skein keeps for one DuckDB instance. Thread-safe; to find is quick, also for many threads at once.
//! Bounded by `max_bytes`: what has not been used for the longest time goes, some more than needed, so that it has not
//! to be looked for each time. An entry is used only for a file of the same size, time and tag.
class FooterCache {
public:
	using Digest = std::shared_ptr<const duckdb::skein_parquet::ParquetDigest>;

	//! What has happened since the start, and what is held.
	struct Numbers {
		uint64_t found = 0;
		uint64_t added = 0;
		duckdb::idx_t entries = 0;
		duckdb::idx_t bytes = 0;
	};

	explicit FooterCache(duckdb::idx_t max_bytes);

	//! Whether anything is held of the file; `key` is its path and how it is read.
	bool Holds(const std::string &key);
	//! What is held of the file if it is still of this version, whose tag counts if it has one; else nullptr.
	Digest Find(const std::string &key, const FileVersion &version);
	//! Holds `digest`, unless the file has been written so lately that another write could leave its time as it is.
	//! Returns the digest as it is held: its schema is shared with those that have the same.
	Digest Add(const std::string &key, duckdb::skein_parquet::ParquetDigest digest);
	Numbers Read();

private:
	struct Entry {
		std::string key;
		Digest digest;
		duckdb::idx_t bytes = 0;
		//! As uses_ was then.
		std::atomic<uint64_t> last_use{0};
	};
	//! Empty without an entry.
	struct Slot {
		uint64_t hash = 0;
		std::unique_ptr<Entry> entry;
	};

	//! The number of the key's slot, or of the one where it belongs.
	size_t FindLocked(const std::string &key, uint64_t hash) const;
	//! Makes an empty one if there is none.
	Entry &EntryLocked(const std::string &key);
	void RemoveLocked(const std::string &key);
	//! All of them; they are then in no slot.
	std::vector<Slot> TakeEntriesLocked();
	//! Puts them into new slots.
	void PutEntriesLocked(std::vector<Slot> entries);
	void TrimLocked();

	const duckdb::idx_t max_bytes_;
	//! Shared by those who find.
	std::shared_mutex mutex_;
	//! To find one entry among a hundred thousand is to wait for memory, so this is no chain: an entry is in the first
	//! free slot from that of its hash on. At least half of the slots are empty; their number is a power of two.
	std::vector<Slot> slots_;
	size_t entries_ = 0;
	//! By their texts; those that no entry has are dropped when their number has doubled.
	std::map<std::string, std::weak_ptr<const duckdb::skein_parquet::ParquetFileSchema>> schemas_;
	size_t schemas_after_clean_up_ = 0;
	uint64_t added_ = 0;
	duckdb::idx_t bytes_ = 0;
	std::atomic<uint64_t> found_{0};
	std::atomic<uint64_t> uses_{0};
};

} // namespace skein
