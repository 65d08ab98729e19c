#include "exchange/page.hpp"

#include "duckdb/storage/buffer/block_handle.hpp"
#include "wire/page_codec.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr idx_t PAGE_ALIGNMENT = 16;

//! The first aligned address of a block; blocks start behind a header, so not on a boundary themselves.
data_ptr_t AlignedStart(data_ptr_t block) {
	auto address = reinterpret_cast<uintptr_t>(block);
	return block + (PAGE_ALIGNMENT - address % PAGE_ALIGNMENT) % PAGE_ALIGNMENT;
}

//! Keeps a block in memory.
struct PinnedPage {
	explicit PinnedPage(BufferHandle handle_p) : handle(std::move(handle_p)) {
	}
	BufferHandle handle;
};

} // namespace

Page::Page(BufferManager &buffers, duckdb::shared_ptr<BlockHandle> block, idx_t rows, idx_t bytes)
	: buffers_(buffers), block_(std::move(block)), rows_(rows), bytes_(bytes) {
}

std::shared_ptr<Page> Page::Seal(BufferManager &buffers, PageBuilder &builder) {
	auto rows = builder.RowCount();
	auto bytes = builder.SealedSize();
	auto handle = buffers.Allocate(MemoryTag::EXTENSION, bytes + PAGE_ALIGNMENT, false);
	builder.Seal(AlignedStart(handle.Ptr()), PageChecksum::NONE);
	return std::shared_ptr<Page>(new Page(buffers, handle.GetBlockHandle(), rows, bytes));
}

SharedBytes Page::Pin() {
	auto pinned = std::make_shared<PinnedPage>(buffers_.Pin(block_));
	auto data = AlignedStart(pinned->handle.Ptr());
	return {std::move(pinned), data, bytes_};
}

} // namespace skein
