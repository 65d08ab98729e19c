#include "wire/page_codec.hpp"

#include "wire/page_codec_columns.hpp"
#include "wire/page_codec_format.hpp"
#include "wire/page_container.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace skein {

using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::SerializationException;

uint64_t ComputePageChecksum(duckdb::const_data_ptr_t page, idx_t size) {
	uint64_t seed;
	memcpy(&seed, page, sizeof(seed));
	constexpr idx_t START = offsetof(PageHeader, total_size);
	return XXH3_64bits_withSeed(page + START, size - START, seed);
}

//===--------------------------------------------------------------------===//
// PageBuilder
//===--------------------------------------------------------------------===//

//! A value and its bit of validity, of all columns.
static idx_t MaxRowBits(const duckdb::vector<LogicalType> &types) {
	idx_t result = 0;
	for (auto &type : types) {
		const auto physical_type = type.InternalType();
		if (!duckdb::TypeIsConstantSize(physical_type)) {
			return 0;
		}
		result += 8 * duckdb::GetTypeIdSize(physical_type) + 1;
	}
	return result;
}

PageBuilder::PageBuilder(duckdb::Allocator &allocator, const duckdb::vector<LogicalType> &types) {
	for (auto &type : types) {
		columns_.push_back(ColumnBuilder::Create(allocator, type, ConstantPolicy::ALLOWED));
	}
	max_row_bits_ = MaxRowBits(types);
}

PageBuilder::~PageBuilder() = default;
PageBuilder::PageBuilder(PageBuilder &&) noexcept = default;
PageBuilder &PageBuilder::operator=(PageBuilder &&) noexcept = default;

void PageBuilder::Append(const PreparedChunk &chunk, const duckdb::SelectionVector &sel, idx_t offset, idx_t count) {
	if (count == 0) {
		return;
	}
	AddRows(count);
	const RowSet rows = sel.IsSet() ? RowSet{sel.data() + offset, 0, count} : RowSet{nullptr, offset, count};
	for (idx_t i = 0; i < columns_.size(); i++) {
		columns_[i]->Append(chunk.Columns()[i], rows);
	}
}

void PageBuilder::AddRows(idx_t count) {
	if (count > MAX_ROWS - row_count_) {
		throw duckdb::OutOfRangeException("A page cannot have more than %llu rows", MAX_ROWS);
	}
	row_count_ += count;
}

idx_t PageBuilder::ByteSize() const {
	idx_t size = sizeof(PageHeader);
	for (auto &column : columns_) {
		size += column->ByteSize();
	}
	return size;
}

bool PageBuilder::IsFull(idx_t page_bytes) const {
	// Headers, and what sections are padded with.
	constexpr idx_t MAX_COLUMN_BYTES = sizeof(ColumnHeader) + 3 * PAGE_ALIGNMENT;
	if (max_row_bits_ > 0 && row_count_ <= MAX_ROWS - STANDARD_VECTOR_SIZE &&
		sizeof(PageHeader) + columns_.size() * MAX_COLUMN_BYTES + row_count_ * max_row_bits_ / 8 < page_bytes) {
		return false;
	}
	return row_count_ > MAX_ROWS - STANDARD_VECTOR_SIZE || ByteSize() >= page_bytes;
}

void PageBuilder::Seal(duckdb::data_ptr_t target, PageChecksum checksum) {
	PageHeader header{};
	header.magic = PAGE_MAGIC;
	header.version = PAGE_VERSION;
	header.flags = checksum == PageChecksum::XXH3 ? PAGE_HAS_CHECKSUM : 0;
	header.total_size = SealedSize();
	header.row_count = row_count_;
	header.column_count = duckdb::NumericCast<uint32_t>(columns_.size());

	SectionWriter writer(target);
	writer.WriteHeader(header);
	for (auto &column : columns_) {
		column->Write(writer);
		column->Clear();
	}
	D_ASSERT(writer.Position() == target + header.total_size);
	if (checksum == PageChecksum::XXH3) {
		header.checksum = ComputePageChecksum(target, header.total_size);
		memcpy(target, &header, sizeof(header));
	}
	row_count_ = 0;
}

//===--------------------------------------------------------------------===//
// PageBuilders
//===--------------------------------------------------------------------===//

PageBuilders::PageBuilders(duckdb::Allocator &allocator, const duckdb::vector<LogicalType> &types, idx_t count)
	: columns_(types.size()), targets_(count) {
	for (idx_t i = 0; i < count; i++) {
		builders_.emplace_back(allocator, types);
		for (idx_t column = 0; column < types.size(); column++) {
			columns_[column].push_back(builders_[i].columns_[column].get());
		}
	}
}

void PageBuilders::Append(const PreparedChunk &chunk, const Partitioning &partitioning) {
	const PartitionedRows rows{partitioning.sel, partitioning.offsets, builders_.size(), partitioning.partition_of,
							   targets_.data()};
	D_ASSERT(rows.Total() == chunk.RowCount());
	for (idx_t i = 0; i < builders_.size(); i++) {
		builders_[i].AddRows(rows.Of(i).count);
	}
	for (idx_t column = 0; column < columns_.size(); column++) {
		columns_[column][0]->AppendPartitioned(chunk.Columns()[column], rows, columns_[column].data());
	}
}

//===--------------------------------------------------------------------===//
// PageReader
//===--------------------------------------------------------------------===//

//! `page`, or a copy of it if its memory is not aligned.
static SharedBytes AlignPage(SharedBytes page) {
	if (reinterpret_cast<uintptr_t>(page.data) % PAGE_ALIGNMENT == 0) {
		return page;
	}
	static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= PAGE_ALIGNMENT);
	std::shared_ptr<uint8_t[]> copy(new uint8_t[page.size]);
	memcpy(copy.get(), page.data, page.size);
	const auto data = copy.get();
	return SharedBytes{std::move(copy), data, page.size};
}

static PageHeader ReadPageHeader(SectionCursor &cursor, const SharedBytes &page, const PageReaderOptions &options) {
	const auto header = cursor.ReadHeader<PageHeader>();
	if (header.magic != PAGE_MAGIC) {
		throw SerializationException("Malformed page: it does not begin like a page");
	}
	if (header.version != PAGE_VERSION) {
		throw SerializationException("A page has format version %d, this worker reads version %d: all workers of a "
									 "cluster must run the same release",
									 int(header.version), int(PAGE_VERSION));
	}
	if (header.total_size != page.size) {
		throw SerializationException("Malformed page: it says to have %llu bytes, and has %llu", header.total_size,
									 page.size);
	}
	if (header.flags & ~PAGE_HAS_CHECKSUM) {
		throw SerializationException("Malformed page: unknown flags %d", int(header.flags));
	}
	if (header.row_count > PageBuilder::MAX_ROWS) {
		throw SerializationException("Malformed page: %llu rows", header.row_count);
	}
	if (options.verify_checksum && (header.flags & PAGE_HAS_CHECKSUM) &&
		ComputePageChecksum(page.data, page.size) != header.checksum) {
		throw SerializationException("Malformed page: its checksum does not match, bytes were changed on the way");
	}
	return header;
}

PageReader::PageReader(SharedBytes page, const duckdb::vector<LogicalType> &types, PageReaderOptions options)
	: page_(AlignPage(DecompressPage(std::move(page)))) {
	SectionCursor cursor(page_.data, page_.size);
	const auto header = ReadPageHeader(cursor, page_, options);
	if (header.column_count != types.size()) {
		throw SerializationException("Malformed page: %llu columns expected, %llu found", idx_t(types.size()),
									 idx_t(header.column_count));
	}
	const ReaderContext context{page_.owner, options.verify_values};
	for (auto &type : types) {
		columns_.push_back(ColumnReader::Create(context, cursor, type, header.row_count, ConstantPolicy::ALLOWED));
	}
	if (cursor.Remaining() != 0) {
		throw SerializationException("Malformed page: %llu bytes after the last column", cursor.Remaining());
	}
	row_count_ = header.row_count;
}

PageReader::~PageReader() = default;
PageReader::PageReader(PageReader &&) noexcept = default;
PageReader &PageReader::operator=(PageReader &&) noexcept = default;

bool PageReader::Next(duckdb::DataChunk &chunk) {
	D_ASSERT(chunk.ColumnCount() == columns_.size());
	const auto count = duckdb::MinValue<idx_t>(row_count_ - next_row_, STANDARD_VECTOR_SIZE);
	chunk.SetCardinality(0);
	if (count == 0) {
		return false;
	}
	for (idx_t i = 0; i < columns_.size(); i++) {
		columns_[i]->Read(next_row_, count, chunk.data[i]);
	}
	chunk.SetCardinality(count);
	next_row_ += count;
	return true;
}

} // namespace skein
