#include "exchange/memory_trimmer.hpp"

#include "duckdb/main/database.hpp"

namespace skein {

using namespace duckdb;

duckdb::shared_ptr<MemoryTrimmer> MemoryTrimmer::Of(DatabaseInstance &db) {
	return db.GetObjectCache().GetOrCreate<MemoryTrimmer>(ObjectType(), BufferManager::GetBufferManager(db));
}

void MemoryTrimmer::Moved(idx_t bytes) {
	auto limit = buffers_.GetMaxMemory();
	auto moved = moved_.fetch_add(bytes) + bytes;
	if (moved < limit / PARTS_OF_LIMIT) {
		return;
	}
	// Of several threads that get here one goes on.
	if (moved_.exchange(0) < limit / PARTS_OF_LIMIT || buffers_.GetUsedMemory() < limit - limit / 4) {
		return;
	}
	Allocator::FlushAll();
}

} // namespace skein
