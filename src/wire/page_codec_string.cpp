#include "wire/page_codec_columns.hpp"

#include <algorithm>

namespace skein {

using duckdb::idx_t;
using duckdb::string_t;
using duckdb::Vector;

namespace {

static_assert(PageString::INLINE_LENGTH == string_t::INLINE_LENGTH);

//! memcpy() that does not branch on the lengths that strings outside of string_t usually have.
inline void CopyString(duckdb::data_ptr_t target, const char *source, uint32_t length) {
	if (length >= 16 && length <= 64) {
		// Four blocks that overlap where the string is shorter.
		const uint32_t last = length - 16;
		const auto second = std::min<uint32_t>(16, last);
		const auto third = std::min<uint32_t>(32, last);
		memcpy(target, source, 16);
		memcpy(target + second, source + second, 16);
		memcpy(target + third, source + third, 16);
		memcpy(target + last, source + last, 16);
	} else {
		memcpy(target, source, length);
	}
}

//! Strings, and everything that DuckDB stores as such. As long as all come from constant vectors and are equal, only
//! one is kept.
class StringColumnBuilder final : public ColumnBuilder {
public:
	StringColumnBuilder(duckdb::Allocator &allocator, ConstantPolicy constants)
		: constants_(constants), strings_(allocator), heap_(allocator), validity_(allocator) {
	}

	void Append(const PreparedColumn &column, const RowSet &rows) override {
		const auto source = reinterpret_cast<const string_t *>(column.format.data);
		auto &validity = column.format.validity;
		if (column.is_constant) {
			const bool is_null = !validity.RowIsValid(0);
			if (TryAppendConstant(is_null ? string_t(uint32_t(0)) : *source, is_null, rows.count)) {
				return;
			}
			if (is_null) {
				AppendNulls(rows.count);
				return;
			}
		}
		MakeFlat();
		const auto source_rows = Compose(rows, *column.format.sel, scratch_);
		if (validity.AllValid()) {
			AppendStrings<false>(source, source_rows, validity);
		} else {
			AppendStrings<true>(source, source_rows, validity);
		}
		validity_.Append(validity, source_rows);
		row_count_ += rows.count;
	}

	void AppendPartitioned(const PreparedColumn &column, const PartitionedRows &rows,
						   ColumnBuilder *const *builders) override {
		AppendToEach<StringColumnBuilder>(column, rows, builders);
	}

	void AppendNulls(idx_t count) override {
		MakeFlat();
		memset(strings_.Extend(count * sizeof(PageString)), 0, count * sizeof(PageString));
		validity_.AppendNulls(count);
		row_count_ += count;
	}

	idx_t ByteSize() const override {
		const auto strings_size = encoding_ == ColumnEncoding::ALL_NULL ? 0 : strings_.Size();
		return sizeof(ColumnHeader) + validity_.SectionSize() + strings_size + AlignToPage(heap_.Size());
	}

	void Write(SectionWriter &writer) const override {
		ColumnHeader header{};
		header.kind = ColumnKind::STRING;
		header.encoding = encoding_ == ColumnEncoding::FLAT ? validity_.Encoding() : encoding_;
		header.row_count = row_count_;
		header.extent = heap_.Size();
		writer.WriteHeader(header);
		validity_.Write(writer);
		if (encoding_ != ColumnEncoding::ALL_NULL) {
			writer.WriteSection(strings_.Data(), strings_.Size());
		}
		writer.WriteSection(heap_.Data(), heap_.Size());
	}

	void Clear() override {
		strings_.Clear();
		heap_.Clear();
		validity_.Clear();
		row_count_ = 0;
		encoding_ = ColumnEncoding::FLAT;
	}

private:
	//! Copies what does not fit into a string_t to the heap.
	PageString Store(const string_t &source) {
		PageString result;
		static_assert(sizeof(result) == sizeof(source));
		memcpy(&result, &source, sizeof(result));
		if (result.length > PageString::INLINE_LENGTH) {
			const auto pointer = source.GetData();
			result.offset = heap_.Size();
			CopyString(heap_.Extend(result.length), pointer, result.length);
		}
		return result;
	}

	bool EqualsConstant(const string_t &value) const {
		const auto &constant = *reinterpret_cast<const PageString *>(strings_.Data());
		if (constant.length != value.GetSize()) {
			return false;
		}
		const auto constant_data = constant.length > PageString::INLINE_LENGTH
									   ? duckdb::const_char_ptr_cast(heap_.Data() + constant.offset)
									   : constant.prefix;
		return memcmp(constant_data, value.GetData(), constant.length) == 0;
	}

	bool TryAppendConstant(const string_t &value, bool is_null, idx_t count) {
		const auto encoding = is_null ? ColumnEncoding::ALL_NULL : ColumnEncoding::CONSTANT;
		if (row_count_ == 0 && constants_ == ConstantPolicy::ALLOWED) {
			encoding_ = encoding;
			const auto stored = Store(value);
			memcpy(strings_.Extend(sizeof(PageString)), &stored, sizeof(PageString));
		} else if (encoding_ != encoding || !EqualsConstant(value)) {
			return false;
		}
		row_count_ += count;
		return true;
	}

	//! Gives every row its own PageString; all of them share the bytes in the heap.
	void MakeFlat() {
		if (encoding_ == ColumnEncoding::FLAT) {
			return;
		}
		const auto value = *reinterpret_cast<const PageString *>(strings_.Data());
		strings_.Clear();
		std::fill_n(reinterpret_cast<PageString *>(strings_.Extend(row_count_ * sizeof(PageString))), row_count_,
					value);
		if (encoding_ == ColumnEncoding::ALL_NULL) {
			validity_.AppendNulls(row_count_);
		} else {
			validity_.AppendValid(row_count_);
		}
		encoding_ = ColumnEncoding::FLAT;
	}

	//! A row that is repeated, as in a constant vector or after a join, shares the bytes of the row before.
	template <bool HAS_MASK>
	void AppendStrings(const string_t *source, const RowSet &rows, const duckdb::ValidityMask &validity) {
		const auto target = reinterpret_cast<PageString *>(strings_.Extend(rows.count * sizeof(PageString)));
		idx_t previous_row = duckdb::DConstants::INVALID_INDEX;
		for (idx_t i = 0; i < rows.count; i++) {
			const auto row = rows.Get(i);
			if (row == previous_row) {
				target[i] = target[i - 1];
			} else if (HAS_MASK && !validity.RowIsValidUnsafe(row)) {
				target[i] = PageString{};
			} else {
				target[i] = Store(source[row]);
			}
			previous_row = row;
		}
	}

	const ConstantPolicy constants_;
	//! FLAT, CONSTANT or ALL_NULL; the last two with one PageString in `strings_`.
	ColumnEncoding encoding_ = ColumnEncoding::FLAT;
	idx_t row_count_ = 0;
	GrowingBuffer strings_;
	GrowingBuffer heap_;
	ValidityBuilder validity_;
	duckdb::vector<duckdb::sel_t> scratch_;
};

class StringColumnReader final : public ColumnReader {
public:
	StringColumnReader(const ReaderContext &context, SectionCursor &cursor, const ColumnHeader &header,
					   const duckdb::LogicalType &type)
		: context_(context), type_(type), encoding_(header.encoding), heap_size_(header.extent) {
		validity_ = ReadValidity(cursor, header);
		if (encoding_ != ColumnEncoding::ALL_NULL) {
			const auto count = encoding_ == ColumnEncoding::CONSTANT ? 1 : header.row_count;
			strings_ = reinterpret_cast<const PageString *>(cursor.ReadSection(count, sizeof(PageString)));
		}
		heap_ = cursor.ReadSection(heap_size_);
	}

	void Read(idx_t start, idx_t count, Vector &target) override {
		const bool is_constant = encoding_ == ColumnEncoding::CONSTANT || encoding_ == ColumnEncoding::ALL_NULL;
		Vector result(type_, is_constant ? 1 : count);
		if (encoding_ == ColumnEncoding::ALL_NULL) {
			result.SetVectorType(duckdb::VectorType::CONSTANT_VECTOR);
			*duckdb::ConstantVector::GetData<string_t>(result) = string_t(uint32_t(0));
			duckdb::ConstantVector::SetNull(result, true);
		} else if (encoding_ == ColumnEncoding::CONSTANT) {
			ReadStrings(0, 1, result);
			result.SetVectorType(duckdb::VectorType::CONSTANT_VECTOR);
		} else {
			ReadStrings(start, count, result);
			validity_.Read(start, count, duckdb::FlatVector::Validity(result));
		}
		if (context_.verify_values) {
			VerifyValues(result, count);
		}
		target.Reference(result);
	}

private:
	void ReadStrings(idx_t start, idx_t count, Vector &result) {
		const auto source = strings_ + start;
		const auto target = reinterpret_cast<PageString *>(duckdb::FlatVector::GetData(result));
		bool any_in_heap = false;
		for (idx_t i = 0; i < count; i++) {
			auto value = source[i];
			if (value.length > PageString::INLINE_LENGTH) {
				if (value.offset > heap_size_ || value.length > heap_size_ - value.offset) {
					throw duckdb::SerializationException("Malformed page: a string of %llu bytes leaves the heap",
														 idx_t(value.length));
				}
				value.offset += reinterpret_cast<uintptr_t>(heap_);
				any_in_heap = true;
			}
			target[i] = value;
		}
		if (any_in_heap) {
			auto reference = duckdb::make_buffer<duckdb::VectorBuffer>(MakePageReference(context_.owner));
			duckdb::StringVector::AddBuffer(result, std::move(reference));
		}
	}

	const ReaderContext context_;
	const duckdb::LogicalType type_;
	const ColumnEncoding encoding_;
	const idx_t heap_size_;
	PageValidity validity_;
	const PageString *strings_ = nullptr;
	duckdb::const_data_ptr_t heap_ = nullptr;
};

} // namespace

duckdb::unique_ptr<ColumnBuilder> CreateStringBuilder(duckdb::Allocator &allocator, ConstantPolicy constants) {
	return duckdb::make_uniq<StringColumnBuilder>(allocator, constants);
}

duckdb::unique_ptr<ColumnReader> CreateStringReader(const ReaderContext &context, SectionCursor &cursor,
													const ColumnHeader &header, const duckdb::LogicalType &type) {
	return duckdb::make_uniq<StringColumnReader>(context, cursor, header, type);
}

} // namespace skein
