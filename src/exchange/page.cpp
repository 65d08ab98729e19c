#include "exchange/page.hpp"

#include "duckdb/storage/buffer/block_handle.hpp"
#include "wire/page_codec.hpp"

#include <algorithm>
#include <vector>

namespace skein {

using namespace duckdb;

namespace {

constexpr idx_t PAGE_ALIGNMENT = 16;

//! The first aligned address of a block; blocks start behind a header, so not on a boundary themselves.
data_ptr_t AlignedStart(data_ptr_t block) {
	auto address = reinterpret_cast<uintptr_t>(block);
	return block + (PAGE_ALIGNMENT - address % PAGE_ALIGNMENT) % PAGE_ALIGNMENT;
}

//! Keeps a block in memory. The pin goes before the page does.
struct PinnedPage {
	PinnedPage(std::shared_ptr<Page> page_p, BufferHandle handle_p)
		: page(std::move(page_p)), handle(std::move(handle_p)) {
	}
	std::shared_ptr<Page> page;
	BufferHandle handle;
};

//! A little more than is needed, so that pages of nearly one size fit into one another's memory.
idx_t CapacityFor(idx_t bytes) {
	constexpr idx_t STEPS = 16;
	auto step = std::max<idx_t>(NextPowerOfTwo(bytes) / STEPS, PAGE_ALIGNMENT);
	return (bytes + step - 1) / step * step;
}

} // namespace

PagePool::Block PagePool::Find(idx_t bytes) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto fits = [&](const Block &block) { return block.capacity >= bytes && block.capacity - bytes <= bytes / 4; };
	// From the end: what was let go of last is the likeliest to be in a cache.
	auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
	if (found == kept_.rend()) {
		return {nullptr, 0};
	}
	auto block = std::move(*found);
	kept_.erase(std::next(found).base());
	kept_bytes_ -= block.capacity;
	return block;
}

BufferHandle PagePool::Take(idx_t bytes, idx_t &capacity) {
	for (auto block = Find(bytes); block.handle; block = Find(bytes)) {
		auto handle = buffers_.Pin(block.handle);
		if (handle.IsValid()) {
			block.handle->GetMemory().SetDestroyBufferUpon(DestroyBufferUpon::BLOCK);
			capacity = block.capacity;
			return handle;
		}
		// DuckDB has taken the memory back.
	}
	capacity = CapacityFor(bytes);
	return buffers_.Allocate(MemoryTag::EXTENSION, capacity, false);
}

void PagePool::GiveBack(duckdb::shared_ptr<BlockHandle> block, idx_t capacity) {
	if (capacity < LEAST_KEPT_BYTES) {
		return;
	}
	// Freed without the lock, the oldest first.
	std::vector<Block> dropped;
	block->GetMemory().SetDestroyBufferUpon(DestroyBufferUpon::EVICTION);
	std::lock_guard<std::mutex> guard(mutex_);
	kept_bytes_ += capacity;
	kept_.push_back({std::move(block), capacity});
	while (kept_bytes_ > MAX_KEPT_BYTES) {
		kept_bytes_ -= kept_.front().capacity;
		dropped.push_back(std::move(kept_.front()));
		kept_.pop_front();
	}
}

Page::Page(std::shared_ptr<PagePool> pool, duckdb::shared_ptr<BlockHandle> block, idx_t capacity, idx_t rows,
		   idx_t bytes)
	: pool_(std::move(pool)), block_(std::move(block)), capacity_(capacity), rows_(rows), bytes_(bytes) {
}

Page::~Page() {
	pool_->GiveBack(std::move(block_), capacity_);
}

std::shared_ptr<Page> Page::Seal(std::shared_ptr<PagePool> pool, PageBuilder &builder) {
	auto rows = builder.RowCount();
	auto bytes = builder.SealedSize();
	idx_t capacity;
	auto handle = pool->Take(bytes + PAGE_ALIGNMENT, capacity);
	builder.Seal(AlignedStart(handle.Ptr()), PageChecksum::NONE);
	return std::shared_ptr<Page>(new Page(std::move(pool), handle.GetBlockHandle(), capacity, rows, bytes));
}

SharedBytes Page::Pin() {
	auto pinned = std::make_shared<PinnedPage>(shared_from_this(), pool_->Buffers().Pin(block_));
	auto data = AlignedStart(pinned->handle.Ptr());
	return {std::move(pinned), data, bytes_};
}

} // namespace skein
