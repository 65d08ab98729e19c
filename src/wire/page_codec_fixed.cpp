#include "wire/page_codec_columns.hpp"

#include <algorithm>

namespace skein {

using duckdb::data_ptr_t;
using duckdb::idx_t;
using duckdb::Vector;

namespace {

//! A value of 16 bytes: HUGEINT, UHUGEINT, UUID, INTERVAL, wide DECIMAL.
struct WideValue {
	uint64_t parts[2];
	bool operator==(const WideValue &other) const = default;
};

//! `value` or zero, without a branch.
template <class T>
T KeepIf(T value, bool keep) {
	return T(value & (T(0) - T(keep)));
}
WideValue KeepIf(WideValue value, bool keep) {
	return WideValue{{KeepIf(value.parts[0], keep), KeepIf(value.parts[1], keep)}};
}

//! Values of one width. As long as all of them come from constant vectors and are equal, only one is kept.
template <class T>
class FixedColumnBuilder final : public ColumnBuilder {
public:
	FixedColumnBuilder(duckdb::Allocator &allocator, ConstantPolicy constants)
		: constants_(constants), values_(allocator), validity_(allocator) {
	}

	void Append(const PreparedColumn &column, const RowSet &rows) override {
		const auto source = reinterpret_cast<const T *>(column.format.data);
		if (column.is_constant) {
			const bool is_null = !column.format.validity.RowIsValid(0);
			if (TryAppendConstant(is_null ? T{} : *source, is_null, rows.count)) {
				return;
			}
			if (is_null) {
				AppendNulls(rows.count);
				return;
			}
		}
		MakeFlat();
		const auto source_rows = Compose(rows, *column.format.sel, scratch_);
		AppendValues(source, source_rows, column.format.validity);
		validity_.Append(column.format.validity, source_rows);
		row_count_ += rows.count;
	}

	void AppendPartitioned(const PreparedColumn &column, const PartitionedRows &rows,
						   ColumnBuilder *const *builders) override {
		if (column.is_constant || column.format.sel->IsSet() || !column.format.validity.AllValid()) {
			AppendToEach<FixedColumnBuilder>(column, rows, builders);
			return;
		}
		const auto source = reinterpret_cast<const T *>(column.format.data);
		for (idx_t partition = 0; partition < rows.partitions; partition++) {
			const auto count = rows.Of(partition).count;
			if (count > 0) {
				const auto target = static_cast<FixedColumnBuilder *>(builders[partition])->AddValid(count);
				rows.targets[partition] = target;
				// All that is not in a cache is on its way before the first value is written.
				constexpr int TO_WRITE = 1;
				__builtin_prefetch(target, TO_WRITE);
				__builtin_prefetch(target + count * sizeof(T) - 1, TO_WRITE);
			}
		}
		// In the order of the rows: what has been read is at hand, and no loop ends after a few rows.
		const auto targets = reinterpret_cast<T **>(rows.targets);
		const auto partition_of = rows.partition_of;
		const auto total = rows.Total();
		for (idx_t row = 0; row < total; row++) {
			*targets[partition_of[row]]++ = source[row];
		}
	}

	void AppendNulls(idx_t count) override {
		MakeFlat();
		memset(values_.Extend(count * sizeof(T)), 0, count * sizeof(T));
		validity_.AppendNulls(count);
		row_count_ += count;
	}

	idx_t ByteSize() const override {
		const auto values_size = encoding_ == ColumnEncoding::ALL_NULL ? 0 : AlignToPage(values_.Size());
		return sizeof(ColumnHeader) + validity_.SectionSize() + values_size;
	}

	void Write(SectionWriter &writer) const override {
		ColumnHeader header{};
		header.kind = ColumnKind::FIXED;
		header.encoding = encoding_ == ColumnEncoding::FLAT ? validity_.Encoding() : encoding_;
		header.parameter = sizeof(T);
		header.row_count = row_count_;
		writer.WriteHeader(header);
		validity_.Write(writer);
		if (encoding_ != ColumnEncoding::ALL_NULL) {
			writer.WriteSection(values_.Data(), values_.Size());
		}
	}

	void Clear() override {
		values_.Clear();
		validity_.Clear();
		row_count_ = 0;
		encoding_ = ColumnEncoding::FLAT;
	}

private:
	bool TryAppendConstant(const T &value, bool is_null, idx_t count) {
		const auto encoding = is_null ? ColumnEncoding::ALL_NULL : ColumnEncoding::CONSTANT;
		if (row_count_ == 0 && constants_ == ConstantPolicy::ALLOWED) {
			encoding_ = encoding;
			memcpy(values_.Extend(sizeof(T)), &value, sizeof(T));
		} else if (encoding_ != encoding || !(*reinterpret_cast<const T *>(values_.Data()) == value)) {
			return false;
		}
		row_count_ += count;
		return true;
	}

	//! Gives every row its own value.
	void MakeFlat() {
		if (encoding_ == ColumnEncoding::FLAT) {
			return;
		}
		const T value = *reinterpret_cast<const T *>(values_.Data());
		values_.Clear();
		std::fill_n(reinterpret_cast<T *>(values_.Extend(row_count_ * sizeof(T))), row_count_, value);
		if (encoding_ == ColumnEncoding::ALL_NULL) {
			validity_.AppendNulls(row_count_);
		} else {
			validity_.AppendValid(row_count_);
		}
		encoding_ = ColumnEncoding::FLAT;
	}

	//! Room for so many more values that are not NULL.
	duckdb::data_ptr_t AddValid(idx_t count) {
		MakeFlat();
		validity_.AppendValid(count);
		row_count_ += count;
		return values_.Extend(count * sizeof(T));
	}

	//! NULL rows get zeros, so that nothing but values leaves the process.
	void AppendValues(const T *source, const RowSet &rows, const duckdb::ValidityMask &validity) {
		const auto target = reinterpret_cast<T *>(values_.Extend(rows.count * sizeof(T)));
		if (!validity.AllValid()) {
			for (idx_t i = 0; i < rows.count; i++) {
				const auto row = rows.Get(i);
				target[i] = KeepIf(source[row], validity.RowIsValidUnsafe(row));
			}
		} else if (rows.IsRange()) {
			memcpy(target, source + rows.offset, rows.count * sizeof(T));
		} else {
			for (idx_t i = 0; i < rows.count; i++) {
				target[i] = source[rows.rows[i]];
			}
		}
	}

	const ConstantPolicy constants_;
	//! FLAT, CONSTANT or ALL_NULL; the last two with one value in `values_`.
	ColumnEncoding encoding_ = ColumnEncoding::FLAT;
	idx_t row_count_ = 0;
	GrowingBuffer values_;
	ValidityBuilder validity_;
	duckdb::vector<duckdb::sel_t> scratch_;
};

class FixedColumnReader final : public ColumnReader {
public:
	FixedColumnReader(const ReaderContext &context, SectionCursor &cursor, const ColumnHeader &header,
					  const duckdb::LogicalType &type)
		: context_(context), type_(type), encoding_(header.encoding), width_(header.parameter) {
		if (width_ != duckdb::GetTypeIdSize(type.InternalType())) {
			throw duckdb::SerializationException("Malformed page: values of type %s in %llu bytes", type.ToString(),
												 width_);
		}
		validity_ = ReadValidity(cursor, header);
		if (encoding_ == ColumnEncoding::CONSTANT) {
			values_ = cursor.ReadSection(1, width_);
		} else if (encoding_ != ColumnEncoding::ALL_NULL) {
			values_ = cursor.ReadSection(header.row_count, width_);
		}
	}

	void Read(idx_t start, idx_t count, Vector &target) override {
		if (encoding_ == ColumnEncoding::CONSTANT || encoding_ == ColumnEncoding::ALL_NULL) {
			ReadConstant(target);
		} else {
			auto result = MakePageVector(type_, values_ + start * width_, context_.owner);
			validity_.Read(start, count, duckdb::FlatVector::Validity(result));
			target.Reference(result);
		}
		if (context_.verify_values) {
			VerifyValues(target, count);
		}
	}

private:
	void ReadConstant(Vector &target) {
		static constexpr idx_t ONE_VALUE = 1;
		Vector result(type_, ONE_VALUE);
		result.SetVectorType(duckdb::VectorType::CONSTANT_VECTOR);
		if (encoding_ == ColumnEncoding::ALL_NULL) {
			memset(duckdb::ConstantVector::GetData(result), 0, width_);
			duckdb::ConstantVector::SetNull(result, true);
		} else {
			memcpy(duckdb::ConstantVector::GetData(result), values_, width_);
		}
		target.Reference(result);
	}

	const ReaderContext context_;
	const duckdb::LogicalType type_;
	const ColumnEncoding encoding_;
	const idx_t width_;
	PageValidity validity_;
	duckdb::const_data_ptr_t values_ = nullptr;
};

} // namespace

duckdb::unique_ptr<ColumnBuilder> CreateFixedBuilder(duckdb::Allocator &allocator, idx_t width,
													 ConstantPolicy constants) {
	switch (width) {
	case 1:
		return duckdb::make_uniq<FixedColumnBuilder<uint8_t>>(allocator, constants);
	case 2:
		return duckdb::make_uniq<FixedColumnBuilder<uint16_t>>(allocator, constants);
	case 4:
		return duckdb::make_uniq<FixedColumnBuilder<uint32_t>>(allocator, constants);
	case 8:
		return duckdb::make_uniq<FixedColumnBuilder<uint64_t>>(allocator, constants);
	case 16:
		return duckdb::make_uniq<FixedColumnBuilder<WideValue>>(allocator, constants);
	default:
		throw duckdb::InternalException("No column builder for values of %llu bytes", width);
	}
}

duckdb::unique_ptr<ColumnReader> CreateFixedReader(const ReaderContext &context, SectionCursor &cursor,
												   const ColumnHeader &header, const duckdb::LogicalType &type) {
	return duckdb::make_uniq<FixedColumnReader>(context, cursor, header, type);
}

} // namespace skein
