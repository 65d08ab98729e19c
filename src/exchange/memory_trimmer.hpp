#pragma once

#include "duckdb/storage/buffer_manager.hpp"
#include "duckdb/storage/object_cache.hpp"

#include <atomic>

namespace skein {

//! Gives memory back to the system while DuckDB's memory limit is nearly reached. What is freed stays with the process
//! for a second or longer, as allocators keep it for later; where pages and spilled blocks come and go, that is a large
//! part of the limit again.
//!
//! One for each DuckDB instance, kept in its object cache; shared with the exchanges that use it. Thread-safe.
class MemoryTrimmer final : public duckdb::ObjectCacheEntry {
public:
	//! Between two trims so many of the limit's parts are moved; a trim costs about a millisecond.
	static constexpr duckdb::idx_t PARTS_OF_LIMIT = 32;

	static duckdb::shared_ptr<MemoryTrimmer> Of(duckdb::DatabaseInstance &db);

	explicit MemoryTrimmer(duckdb::BufferManager &buffers) : buffers_(buffers) {
	}
	//! A page of so many bytes was made or taken.
	void Moved(duckdb::idx_t bytes);

	static std::string ObjectType() {
		return "skein_memory_trimmer";
	}
	std::string GetObjectType() override {
		return ObjectType();
	}
	duckdb::optional_idx GetEstimatedCacheMemory() const override {
		// Never evicted.
		return duckdb::optional_idx();
	}

private:
	duckdb::BufferManager &buffers_;
	//! Since the last trim.
	std::atomic<duckdb::idx_t> moved_{0};
};

} // namespace skein
