#pragma once

#include "duckdb/common/common.hpp"
#include "duckdb/common/exception.hpp"

#include <cstring>

namespace skein {

//! The layout of a page, as docs/wire_format.md describes it: a PageHeader, then per column in pre-order a ColumnHeader
//! and its sections. Everything starts at a multiple of PAGE_ALIGNMENT and is little-endian.
static constexpr duckdb::idx_t PAGE_ALIGNMENT = 16;
static constexpr uint32_t PAGE_MAGIC = 0x47504B53; // "SKPG"
static constexpr uint8_t PAGE_VERSION = 2;
static constexpr uint8_t PAGE_HAS_CHECKSUM = 1;
//! The whole of another page, compressed, follows the header. Excludes all other flags.
static constexpr uint8_t PAGE_IS_LZ4 = 2;
static constexpr uint8_t PAGE_IS_ZSTD = 4;

struct PageHeader {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint16_t reserved;
	//! XXH3-64 of the bytes after it, seeded by the 8 bytes before it; 0 without PAGE_HAS_CHECKSUM.
	uint64_t checksum;
	uint64_t total_size;
	uint64_t row_count;
	uint32_t column_count;
	uint32_t reserved_2;
	//! Of a compressed page: the size of the page inside; else 0.
	uint64_t raw_size;
};
static_assert(sizeof(PageHeader) == 48);

enum class ColumnKind : uint8_t { FIXED = 1, STRING = 2, STRUCT = 3, LIST = 4, ARRAY = 5 };

//! FLAT: one value per row, none of them NULL. FLAT_WITH_NULLS: a validity bitmap comes first.
//! CONSTANT: one value for all rows. ALL_NULL: no sections. The last two only for FIXED and STRING that are not within
//! a LIST or an ARRAY.
enum class ColumnEncoding : uint8_t { FLAT = 0, FLAT_WITH_NULLS = 1, CONSTANT = 2, ALL_NULL = 3 };

struct ColumnHeader {
	ColumnKind kind;
	ColumnEncoding encoding;
	uint16_t reserved;
	//! FIXED: bytes of a value; STRUCT: number of children; ARRAY: elements of a value; else 0.
	uint32_t parameter;
	uint64_t row_count;
	//! STRING: bytes of the heap; LIST: rows of the child; else 0.
	uint64_t extent;
	uint64_t reserved_2;
};
static_assert(sizeof(ColumnHeader) == 32);

//! A string of at most INLINE_LENGTH bytes, padded by zeros, as duckdb::string_t has it; a longer one has its first
//! four bytes in `prefix`, and `offset` into the column's heap.
struct PageString {
	static constexpr uint32_t INLINE_LENGTH = 12;
	uint32_t length;
	char prefix[4];
	uint64_t offset;
};
static_assert(sizeof(PageString) == 16);

//! A range of rows of the list column's child.
struct PageListEntry {
	uint32_t offset;
	uint32_t length;
};

inline duckdb::idx_t AlignToPage(duckdb::idx_t size) {
	return (size + PAGE_ALIGNMENT - 1) & ~(PAGE_ALIGNMENT - 1);
}

inline duckdb::idx_t BitmapSize(duckdb::idx_t row_count) {
	return (row_count + 63) / 64 * sizeof(uint64_t);
}

uint64_t ComputePageChecksum(duckdb::const_data_ptr_t page, duckdb::idx_t size);

//! Writes headers and sections one after the other into memory that is known to suffice.
class SectionWriter {
public:
	explicit SectionWriter(duckdb::data_ptr_t target) : position_(target) {
	}
	template <class HEADER>
	void WriteHeader(const HEADER &header) {
		static_assert(sizeof(HEADER) % PAGE_ALIGNMENT == 0);
		memcpy(position_, &header, sizeof(HEADER));
		position_ += sizeof(HEADER);
	}
	//! Writes `size` bytes and zeros up to the next aligned position.
	void WriteSection(duckdb::const_data_ptr_t data, duckdb::idx_t size) {
		if (size == 0) {
			return;
		}
		const auto padded_size = AlignToPage(size);
		memcpy(position_, data, size);
		memset(position_ + size, 0, padded_size - size);
		position_ += padded_size;
	}
	duckdb::data_ptr_t Position() const {
		return position_;
	}

private:
	duckdb::data_ptr_t position_;
};

//! Walks over the headers and sections of a page and never leaves it.
//! Throws duckdb::SerializationException where the page is too short.
class SectionCursor {
public:
	SectionCursor(duckdb::const_data_ptr_t begin, duckdb::idx_t size) : position_(begin), remaining_(size) {
	}
	template <class HEADER>
	HEADER ReadHeader() {
		HEADER header;
		memcpy(&header, Take(sizeof(HEADER)), sizeof(HEADER));
		return header;
	}
	//! The section of `count` values of `width` bytes at the current position.
	duckdb::const_data_ptr_t ReadSection(duckdb::idx_t count, duckdb::idx_t width = 1) {
		if (width != 0 && count > remaining_ / width) {
			throw duckdb::SerializationException("Malformed page: a section of %llu values of %llu bytes does not fit",
												 count, width);
		}
		return Take(AlignToPage(count * width));
	}
	duckdb::idx_t Remaining() const {
		return remaining_;
	}

private:
	duckdb::const_data_ptr_t Take(duckdb::idx_t size) {
		if (size > remaining_) {
			throw duckdb::SerializationException("Malformed page: %llu bytes expected, %llu left", size, remaining_);
		}
		const auto result = position_;
		position_ += size;
		remaining_ -= size;
		return result;
	}

	duckdb::const_data_ptr_t position_;
	duckdb::idx_t remaining_;
};

} // namespace skein
