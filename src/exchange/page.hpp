#pragma once

#include "duckdb/storage/buffer_manager.hpp"
#include "transport/transport.hpp"

#include <deque>
#include <memory>
#include <mutex>

namespace skein {

class PageBuilder;

//! Memory for the pages of one task, in DuckDB's buffer manager. What readers have let go of is used again, as fresh
//! memory costs a page fault for every 4 KiB of it.
//!
//! Keeps at most MAX_KEPT_BYTES that nobody uses, in blocks of at least LEAST_KEPT_BYTES: so few that looking for one
//! is quick. DuckDB takes them back, without writing them anywhere, when memory is short. Lives as long as one of its
//! pages does. Thread-safe.
class PagePool {
public:
	static constexpr duckdb::idx_t MAX_KEPT_BYTES = duckdb::idx_t(16) << 20;

	static constexpr duckdb::idx_t LEAST_KEPT_BYTES = duckdb::idx_t(16) << 10;

	explicit PagePool(duckdb::BufferManager &buffers) : buffers_(buffers) {
	}
	//! Pinned memory for a page of `bytes`, with anything in it; `capacity`: how much it really is, for GiveBack().
	duckdb::BufferHandle Take(duckdb::idx_t bytes, duckdb::idx_t &capacity);
	//! Nobody uses the block any more.
	void GiveBack(duckdb::shared_ptr<duckdb::BlockHandle> block, duckdb::idx_t capacity);

	duckdb::BufferManager &Buffers() {
		return buffers_;
	}

private:
	struct Block {
		duckdb::shared_ptr<duckdb::BlockHandle> handle;
		duckdb::idx_t capacity;
	};

	//! A kept block of about that size; without a handle if there is none.
	Block Find(duckdb::idx_t bytes);

	duckdb::BufferManager &buffers_;
	std::mutex mutex_;
	std::deque<Block> kept_;
	duckdb::idx_t kept_bytes_ = 0;
};

//! A sealed page in memory of DuckDB's buffer manager: it counts against the memory limit and is spilled under
//! pressure.
//!
//! Shared by the partitions that hold it and by those who have pinned it. Thread-safe.
class Page : public std::enable_shared_from_this<Page> {
public:
	//! Seals what `builder` has collected; without a checksum, which links add.
	static std::shared_ptr<Page> Seal(std::shared_ptr<PagePool> pool, PageBuilder &builder);
	~Page();
	Page(const Page &) = delete;
	Page &operator=(const Page &) = delete;

	duckdb::idx_t Rows() const {
		return rows_;
	}
	duckdb::idx_t Bytes() const {
		return bytes_;
	}
	//! The page's bytes, in memory for as long as the result's owner lives; 16-byte aligned.
	SharedBytes Pin();

private:
	Page(std::shared_ptr<PagePool> pool, duckdb::shared_ptr<duckdb::BlockHandle> block, duckdb::idx_t capacity,
		 duckdb::idx_t rows, duckdb::idx_t bytes);

	const std::shared_ptr<PagePool> pool_;
	duckdb::shared_ptr<duckdb::BlockHandle> block_;
	const duckdb::idx_t capacity_;
	const duckdb::idx_t rows_;
	const duckdb::idx_t bytes_;
};

} // namespace skein
