#include "wire/page_codec_columns.hpp"

namespace skein {

using duckdb::idx_t;

static constexpr uint64_t ALL_VALID = ~uint64_t(0);

void ValidityBuilder::CoverRows() {
	const auto size = BitmapSize(row_count_);
	if (size > words_.Size()) {
		const auto missing = size - words_.Size();
		memset(words_.Extend(missing), 0xFF, missing);
	}
}

void ValidityBuilder::Append(const duckdb::ValidityMask &mask, const RowSet &rows) {
	if (mask.AllValid()) {
		AppendValid(rows.count);
		return;
	}
	const auto first_row = row_count_;
	row_count_ += rows.count;
	CoverRows();
	const auto source = mask.GetData();
	const auto target = reinterpret_cast<uint64_t *>(words_.Data());
	uint64_t any_null = 0;
	for (idx_t i = 0; i < rows.count;) {
		const auto word = (first_row + i) / 64;
		const auto bit = (first_row + i) % 64;
		const auto end = duckdb::MinValue(rows.count, i + 64 - bit);
		uint64_t nulls = 0;
		for (auto position = bit; i < end; i++, position++) {
			const auto row = rows.Get(i);
			nulls |= (~(source[row / 64] >> (row % 64)) & 1) << position;
		}
		target[word] &= ~nulls;
		any_null |= nulls;
	}
	has_nulls_ |= any_null != 0;
}

void ValidityBuilder::AppendNulls(idx_t count) {
	if (count == 0) {
		return;
	}
	const auto first_row = row_count_;
	row_count_ += count;
	CoverRows();
	const auto target = reinterpret_cast<uint64_t *>(words_.Data());
	for (auto row = first_row; row < row_count_; row++) {
		target[row / 64] &= ~(uint64_t(1) << (row % 64));
	}
	has_nulls_ = true;
}

void ValidityBuilder::Write(SectionWriter &writer) const {
	if (has_nulls_) {
		writer.WriteSection(words_.Data(), BitmapSize(row_count_));
	}
}

void ValidityBuilder::Clear() {
	words_.Clear();
	row_count_ = 0;
	has_nulls_ = false;
}

PageValidity ReadValidity(SectionCursor &cursor, const ColumnHeader &header) {
	PageValidity result;
	if (header.encoding == ColumnEncoding::FLAT_WITH_NULLS) {
		result.words = cursor.ReadSection(BitmapSize(header.row_count));
	}
	return result;
}

bool PageValidity::Read(idx_t start, idx_t count, duckdb::ValidityMask &mask) const {
	mask.Reset(count);
	if (!words || count == 0) {
		return false;
	}
	const auto source = reinterpret_cast<const uint64_t *>(words) + start / 64;
	const auto shift = start % 64;
	const auto last_word = (shift + count - 1) / 64;
	mask.Initialize(count);
	const auto target = mask.GetData();
	uint64_t all = ALL_VALID;
	for (idx_t i = 0; i < duckdb::ValidityMask::EntryCount(count); i++) {
		auto word = source[i] >> shift;
		if (shift > 0) {
			word |= (i < last_word ? source[i + 1] : ALL_VALID) << (64 - shift);
		}
		target[i] = word;
		all &= word;
	}
	if (count % 64 != 0) {
		// Bits after the last row belong to other rows.
		target[count / 64] |= ALL_VALID << (count % 64);
	}
	if (all == ALL_VALID) {
		mask.Reset(count);
		return false;
	}
	return true;
}

} // namespace skein
