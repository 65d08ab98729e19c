#pragma once

#include "wire/shared_bytes.hpp"

#include "duckdb/common/allocator.hpp"
#include "duckdb/common/types/data_chunk.hpp"

#include <vector>

namespace skein {

class ColumnBuilder;
class ColumnReader;

//! One vector of a chunk, and recursively its children, in the form in which ColumnBuilders read it.
struct PreparedColumn {
	duckdb::UnifiedVectorFormat format;
	//! All rows have the value at index 0 of `format`.
	bool is_constant = false;
	duckdb::vector<PreparedColumn> children;
};

//! A chunk made ready to be appended to any number of PageBuilders, so that the work per vector is done once per chunk
//! and not once per target.
//!
//! Not thread-safe. Refers to the chunk's memory: valid until the chunk changes.
class PreparedChunk {
public:
	explicit PreparedChunk(const duckdb::vector<duckdb::LogicalType> &types);

	//! Replaces what was prepared before by `chunk`, whose types must be those given at construction.
	//! Vectors of any kind are accepted; those that are not flat, constant or dictionary are flattened in place.
	void Prepare(duckdb::DataChunk &chunk);
	//! The rows of the chunk prepared last.
	duckdb::idx_t RowCount() const {
		return row_count_;
	}
	const duckdb::vector<PreparedColumn> &Columns() const {
		return columns_;
	}

private:
	duckdb::vector<PreparedColumn> columns_;
	duckdb::idx_t row_count_ = 0;
};

//! Whether a page carries a checksum that PageReader can verify. It costs one pass over the page on either side.
enum class PageChecksum : uint8_t { NONE, XXH3 };

//! Collects the rows for one target and seals them into a page. The layout is described in docs/wire_format.md.
//!
//!     prepared.Prepare(chunk);
//!     for each target:
//!         builder[target].Append(prepared, sel[target], 0, count[target]);
//!         if builder[target].IsFull(page_bytes):
//!             memory = allocate(builder[target].SealedSize());
//!             builder[target].Seal(memory);
//!
//! Owns its buffers, which are allocated by `allocator`; the allocator must outlive it. Not thread-safe.
//! A page that holds one large value is as large as that value needs; there is no upper limit in bytes.
class PageBuilder {
public:
	//! A page holds at most this many rows, so that pages without columns and pages of constants are bounded, too.
	static constexpr duckdb::idx_t MAX_ROWS = duckdb::idx_t(1) << 31;

	PageBuilder(duckdb::Allocator &allocator, const duckdb::vector<duckdb::LogicalType> &types);
	~PageBuilder();
	PageBuilder(PageBuilder &&) noexcept;
	PageBuilder &operator=(PageBuilder &&) noexcept;

	//! Appends the rows sel[offset .. offset + count) of the chunk; with a `sel` that is not set, the rows
	//! offset .. offset + count. Copies all it needs.
	//! Throws duckdb::OutOfRangeException if the page got more than MAX_ROWS rows, or a list column more than 2^32 - 1
	//! elements; what the allocator throws is passed on. The builder must then be discarded.
	void Append(const PreparedChunk &chunk, const duckdb::SelectionVector &sel, duckdb::idx_t offset,
				duckdb::idx_t count);

	duckdb::idx_t RowCount() const {
		return row_count_;
	}
	//! Bytes the page has so far: what SealedSize() would return.
	duckdb::idx_t ByteSize() const;
	//! The page has reached `page_bytes`, or one more chunk of rows could exceed MAX_ROWS: time to seal it.
	bool IsFull(duckdb::idx_t page_bytes) const;

	//! The exact size of the memory that Seal() will fill.
	duckdb::idx_t SealedSize() const {
		return ByteSize();
	}
	//! Writes the page to `target`, which must have SealedSize() bytes and be aligned to 16. Also a page without rows
	//! is valid. Afterwards the builder is empty and can be used again; buffers of ordinary size are kept for it.
	void Seal(duckdb::data_ptr_t target, PageChecksum checksum = PageChecksum::XXH3);

private:
	friend class PageBuilders;

	void AddRows(duckdb::idx_t count);

	duckdb::vector<duckdb::unique_ptr<ColumnBuilder>> columns_;
	duckdb::idx_t row_count_ = 0;
	//! No row takes more bits; 0 if it depends on the values.
	duckdb::idx_t max_row_bits_ = 0;
};

//! The builders of all partitions, to which a chunk is appended column by column: with many partitions each of them
//! gets a few rows of a chunk only.
class PageBuilders {
public:
	PageBuilders(duckdb::Allocator &allocator, const duckdb::vector<duckdb::LogicalType> &types, duckdb::idx_t count);

	PageBuilder &operator[](duckdb::idx_t partition) {
		return builders_[partition];
	}
	duckdb::idx_t Count() const {
		return builders_.size();
	}
	//! Which rows of a chunk go to which partition: all of them, row to partition_of[row]; those of partition p are
	//! sel[offsets[p] .. offsets[p + 1]), in order.
	struct Partitioning {
		const duckdb::sel_t *sel;
		const duckdb::idx_t *offsets;
		const uint32_t *partition_of;
	};
	//! Appends every row of the chunk to its partition. Throws like PageBuilder::Append().
	void Append(const PreparedChunk &chunk, const Partitioning &rows);

private:
	std::vector<PageBuilder> builders_;
	//! By column and partition.
	std::vector<std::vector<ColumnBuilder *>> columns_;
	//! Scratch space.
	std::vector<duckdb::data_ptr_t> targets_;
};

//! What a PageReader verifies besides the structure of a page, which it always does.
struct PageReaderOptions {
	//! Compares the checksum, if the page has one. Not needed for pages that never left the process.
	bool verify_checksum = true;
	//! Also checks what a sender that is not trusted could get wrong inside of values: UTF-8, booleans, enum positions,
	//! union tags, and the inner form of BIT and BIGNUM.
	bool verify_values = false;
};

//! Reads a page as chunks whose vectors point into the page's memory where possible. A compressed page (see
//! page_container.hpp) is decompressed first, into memory of its own.
//!
//! Shares the ownership of the page with every vector it hands out, so that a vector may outlive the reader.
//! Such vectors must not be written to, as other readers may see the same memory.
//! Not thread-safe; several readers may read one page at the same time.
//! Malformed bytes end in duckdb::SerializationException, from the constructor or from Next(); no input leads to an
//! access outside of the page. A page whose memory is not aligned to 16 bytes is copied first.
class PageReader {
public:
	PageReader(SharedBytes page, const duckdb::vector<duckdb::LogicalType> &types, PageReaderOptions options = {});
	~PageReader();
	PageReader(PageReader &&) noexcept;
	PageReader &operator=(PageReader &&) noexcept;

	//! Fills `chunk` with the next rows, at most STANDARD_VECTOR_SIZE, and returns true; returns false at the end of
	//! the page, with an empty chunk. `chunk` must have been initialised, or initialised empty, with the page's types.
	bool Next(duckdb::DataChunk &chunk);

	//! The rows of the whole page.
	duckdb::idx_t RowCount() const {
		return row_count_;
	}

private:
	SharedBytes page_;
	duckdb::vector<duckdb::unique_ptr<ColumnReader>> columns_;
	duckdb::idx_t row_count_ = 0;
	duckdb::idx_t next_row_ = 0;
};

} // namespace skein
