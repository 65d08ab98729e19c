#pragma once

#include "wire/page_codec.hpp"
#include "wire/page_codec_format.hpp"

namespace skein {

//! The rows of a vector that are to be appended: rows[0 .. count), or offset .. offset + count if `rows` is null.
struct RowSet {
	const duckdb::sel_t *rows;
	duckdb::idx_t offset;
	duckdb::idx_t count;

	bool IsRange() const {
		return !rows;
	}
	duckdb::idx_t Get(duckdb::idx_t i) const {
		return rows ? rows[i] : offset + i;
	}
	RowSet Slice(duckdb::idx_t begin, duckdb::idx_t slice_count) const {
		return rows ? RowSet{rows + begin, 0, slice_count} : RowSet{nullptr, offset + begin, slice_count};
	}
};

//! The rows of a vector that are to be appended to each of several partitions: those of partition p are
//! rows[offsets[p] .. offsets[p + 1]), and partition_of[row] is p.
struct PartitionedRows {
	const duckdb::sel_t *rows;
	const duckdb::idx_t *offsets;
	duckdb::idx_t partitions;
	const uint32_t *partition_of;
	//! Room for one pointer per partition.
	duckdb::data_ptr_t *targets;

	RowSet Of(duckdb::idx_t partition) const {
		return {rows + offsets[partition], 0, offsets[partition + 1] - offsets[partition]};
	}
	duckdb::idx_t Total() const {
		return offsets[partitions];
	}
};

//! Whether a column may be stored as one value for all rows.
enum class ConstantPolicy : uint8_t { ALLOWED, FORBIDDEN };

//! Memory that grows at its end.
class GrowingBuffer {
public:
	//! Memory up to this size is kept when the buffer is cleared, so that one large value does not hold memory for
	//! ever.
	static constexpr duckdb::idx_t MAX_KEPT_BYTES = 4 << 20;

	explicit GrowingBuffer(duckdb::Allocator &allocator) : allocator_(allocator) {
	}
	//! Adds `size` bytes that are not initialised; the result is valid until the next call.
	duckdb::data_ptr_t Extend(duckdb::idx_t size) {
		if (size > capacity_ - size_) {
			Grow(size);
		}
		const auto result = data_.get() + size_;
		size_ += size;
		return result;
	}
	duckdb::data_ptr_t Data() {
		return data_.get();
	}
	duckdb::const_data_ptr_t Data() const {
		return data_.get();
	}
	duckdb::idx_t Size() const {
		return size_;
	}
	void Clear();

private:
	void Grow(duckdb::idx_t size);

	duckdb::Allocator &allocator_;
	duckdb::AllocatedData data_;
	duckdb::idx_t size_ = 0;
	duckdb::idx_t capacity_ = 0;
};

//! The validity bitmap of a column under construction; takes memory only once a mask that could hold a NULL was seen.
class ValidityBuilder {
public:
	explicit ValidityBuilder(duckdb::Allocator &allocator) : words_(allocator) {
	}
	void Append(const duckdb::ValidityMask &mask, const RowSet &rows);
	void AppendValid(duckdb::idx_t count) {
		row_count_ += count;
		if (words_.Size() > 0) {
			CoverRows();
		}
	}
	void AppendNulls(duckdb::idx_t count);
	bool HasNulls() const {
		return has_nulls_;
	}
	ColumnEncoding Encoding() const {
		return has_nulls_ ? ColumnEncoding::FLAT_WITH_NULLS : ColumnEncoding::FLAT;
	}
	duckdb::idx_t SectionSize() const {
		return has_nulls_ ? AlignToPage(BitmapSize(row_count_)) : 0;
	}
	void Write(SectionWriter &writer) const;
	void Clear();

private:
	//! Makes the bitmap cover all rows; new bits are set.
	void CoverRows();

	GrowingBuffer words_;
	duckdb::idx_t row_count_ = 0;
	bool has_nulls_ = false;
};

//! Collects the values of one column, and of its children, for one page.
class ColumnBuilder {
public:
	virtual ~ColumnBuilder() = default;
	virtual void Append(const PreparedColumn &column, const RowSet &rows) = 0;
	//! Appends to `builders`, one per partition and all of this one's class, what each of them is to get. Called for
	//! one of them.
	virtual void AppendPartitioned(const PreparedColumn &column, const PartitionedRows &rows,
								   ColumnBuilder *const *builders);
	virtual void AppendNulls(duckdb::idx_t count) = 0;
	//! Bytes of the header and all sections, with those of the children.
	virtual duckdb::idx_t ByteSize() const = 0;
	virtual void Write(SectionWriter &writer) const = 0;
	virtual void Clear() = 0;

	static duckdb::unique_ptr<ColumnBuilder> Create(duckdb::Allocator &allocator, const duckdb::LogicalType &type,
													ConstantPolicy constants);
};

//! ColumnBuilder::AppendPartitioned() for builders of one class, whose Append() is thus called directly.
template <class BUILDER>
void AppendToEach(const PreparedColumn &column, const PartitionedRows &rows, ColumnBuilder *const *builders) {
	for (duckdb::idx_t partition = 0; partition < rows.partitions; partition++) {
		const auto own = rows.Of(partition);
		if (own.count > 0) {
			static_cast<BUILDER *>(builders[partition])->BUILDER::Append(column, own);
		}
	}
}

//! What all columns of one PageReader share.
struct ReaderContext {
	std::shared_ptr<const void> owner;
	bool verify_values;
};

//! Gives out the values of one column, and of its children, as vectors.
class ColumnReader {
public:
	virtual ~ColumnReader() = default;
	//! Makes `target`, a vector of the column's type, refer to the rows start .. start + count.
	virtual void Read(duckdb::idx_t start, duckdb::idx_t count, duckdb::Vector &target) = 0;

	//! Reads the headers of a column of `row_count` rows and of its children.
	static duckdb::unique_ptr<ColumnReader> Create(const ReaderContext &context, SectionCursor &cursor,
												   const duckdb::LogicalType &type, duckdb::idx_t row_count,
												   ConstantPolicy constants);
};

//! The validity bitmap of a column in a page; `words` is null if it has none.
struct PageValidity {
	duckdb::const_data_ptr_t words = nullptr;

	//! Copies the bits of the rows start .. start + count to `mask`; returns whether one of them is NULL.
	bool Read(duckdb::idx_t start, duckdb::idx_t count, duckdb::ValidityMask &mask) const;
};

//! Reads the validity section that follows `header`, if there is one.
PageValidity ReadValidity(SectionCursor &cursor, const ColumnHeader &header);

//! `rows` seen through `selection`; the result may point into `scratch`.
RowSet Compose(const RowSet &rows, const duckdb::SelectionVector &selection, duckdb::vector<duckdb::sel_t> &scratch);

//! Memory of a vector that is nothing but a reference to a page.
duckdb::AllocatedData MakePageReference(std::shared_ptr<const void> owner);

//! Makes a flat vector without memory of its own, over `data` in a page.
duckdb::Vector MakePageVector(const duckdb::LogicalType &type, duckdb::const_data_ptr_t data,
							  const std::shared_ptr<const void> &owner);

//! Throws duckdb::SerializationException if a value cannot be one of `type`: see PageReaderOptions::verify_values.
void VerifyValues(duckdb::Vector &vector, duckdb::idx_t count);

duckdb::unique_ptr<ColumnBuilder> CreateFixedBuilder(duckdb::Allocator &allocator, duckdb::idx_t width,
													 ConstantPolicy constants);
duckdb::unique_ptr<ColumnBuilder> CreateStringBuilder(duckdb::Allocator &allocator, ConstantPolicy constants);
duckdb::unique_ptr<ColumnBuilder> CreateNestedBuilder(duckdb::Allocator &allocator, const duckdb::LogicalType &type,
													  ConstantPolicy constants);
duckdb::unique_ptr<ColumnReader> CreateFixedReader(const ReaderContext &context, SectionCursor &cursor,
												   const ColumnHeader &header, const duckdb::LogicalType &type);
duckdb::unique_ptr<ColumnReader> CreateStringReader(const ReaderContext &context, SectionCursor &cursor,
													const ColumnHeader &header, const duckdb::LogicalType &type);
duckdb::unique_ptr<ColumnReader> CreateNestedReader(const ReaderContext &context, SectionCursor &cursor,
													const ColumnHeader &header, const duckdb::LogicalType &type,
													ConstantPolicy constants);

} // namespace skein
