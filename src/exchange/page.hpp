#pragma once

#include "duckdb/storage/buffer_manager.hpp"
#include "transport/transport.hpp"

#include <memory>

namespace skein {

class PageBuilder;

//! A sealed page in memory of DuckDB's buffer manager: it counts against the memory limit and is spilled under
//! pressure.
//!
//! Shared by the partitions that hold it. Thread-safe.
class Page {
public:
	//! Seals what `builder` has collected; without a checksum, which links add.
	static std::shared_ptr<Page> Seal(duckdb::BufferManager &buffers, PageBuilder &builder);

	duckdb::idx_t Rows() const {
		return rows_;
	}
	duckdb::idx_t Bytes() const {
		return bytes_;
	}
	//! The page's bytes, in memory for as long as the result's owner lives; 16-byte aligned.
	SharedBytes Pin();

private:
	Page(duckdb::BufferManager &buffers, duckdb::shared_ptr<duckdb::BlockHandle> block, duckdb::idx_t rows,
		 duckdb::idx_t bytes);

	duckdb::BufferManager &buffers_;
	duckdb::shared_ptr<duckdb::BlockHandle> block_;
	duckdb::idx_t rows_;
	duckdb::idx_t bytes_;
};

} // namespace skein
