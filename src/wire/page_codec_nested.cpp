#include "wire/page_codec_columns.hpp"

namespace skein {

using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::PhysicalType;
using duckdb::SerializationException;
using duckdb::Vector;

namespace {

//! Passes the elements of lists and arrays on to the child's builder, in large portions.
class ElementGatherer {
public:
	ElementGatherer(ColumnBuilder &builder, const PreparedColumn &column, duckdb::vector<duckdb::sel_t> &rows)
		: builder_(builder), column_(column), rows_(rows) {
		rows_.clear();
	}
	//! Adds the elements begin .. begin + count of the child.
	void Add(idx_t begin, idx_t count) {
		if (begin == range_end_) {
			range_end_ += count;
			return;
		}
		CloseRange();
		range_begin_ = begin;
		range_end_ = begin + count;
	}
	void AddNulls(idx_t count) {
		Finish();
		builder_.AppendNulls(count);
	}
	void Finish() {
		CloseRange();
		FlushRows();
	}

private:
	//! At least so many elements in sequence are passed on as a range, without an index per element.
	static constexpr idx_t LONG_RANGE = 64;
	static constexpr idx_t MAX_PORTION = 1 << 16;

	void CloseRange() {
		const auto count = range_end_ - range_begin_;
		if (count >= LONG_RANGE || range_end_ > duckdb::NumericLimits<duckdb::sel_t>::Maximum()) {
			FlushRows();
			for (auto begin = range_begin_; begin < range_end_; begin += MAX_PORTION) {
				const auto portion = duckdb::MinValue<idx_t>(MAX_PORTION, range_end_ - begin);
				builder_.Append(column_, RowSet{nullptr, begin, portion});
			}
		} else {
			for (auto row = range_begin_; row < range_end_; row++) {
				rows_.push_back(duckdb::UnsafeNumericCast<duckdb::sel_t>(row));
			}
			if (rows_.size() >= MAX_PORTION) {
				FlushRows();
			}
		}
		range_begin_ = range_end_;
	}
	void FlushRows() {
		if (!rows_.empty()) {
			builder_.Append(column_, RowSet{rows_.data(), 0, rows_.size()});
			rows_.clear();
		}
	}

	ColumnBuilder &builder_;
	const PreparedColumn &column_;
	//! Elements in front of the range.
	duckdb::vector<duckdb::sel_t> &rows_;
	idx_t range_begin_ = 0;
	idx_t range_end_ = 0;
};

class StructColumnBuilder final : public ColumnBuilder {
public:
	StructColumnBuilder(duckdb::Allocator &allocator, const LogicalType &type, ConstantPolicy constants)
		: validity_(allocator) {
		for (auto &child : duckdb::StructType::GetChildTypes(type)) {
			children_.push_back(ColumnBuilder::Create(allocator, child.second, constants));
		}
	}

	void Append(const PreparedColumn &column, const RowSet &rows) override {
		for (idx_t i = 0; i < children_.size(); i++) {
			children_[i]->Append(column.children[i], rows);
		}
		validity_.Append(column.format.validity, Compose(rows, *column.format.sel, scratch_));
		row_count_ += rows.count;
	}

	void AppendNulls(idx_t count) override {
		for (auto &child : children_) {
			child->AppendNulls(count);
		}
		validity_.AppendNulls(count);
		row_count_ += count;
	}

	idx_t ByteSize() const override {
		auto size = sizeof(ColumnHeader) + validity_.SectionSize();
		for (auto &child : children_) {
			size += child->ByteSize();
		}
		return size;
	}

	void Write(SectionWriter &writer) const override {
		ColumnHeader header{};
		header.kind = ColumnKind::STRUCT;
		header.encoding = validity_.Encoding();
		header.parameter = duckdb::NumericCast<uint32_t>(children_.size());
		header.row_count = row_count_;
		writer.WriteHeader(header);
		validity_.Write(writer);
		for (auto &child : children_) {
			child->Write(writer);
		}
	}

	void Clear() override {
		validity_.Clear();
		for (auto &child : children_) {
			child->Clear();
		}
		row_count_ = 0;
	}

private:
	idx_t row_count_ = 0;
	ValidityBuilder validity_;
	duckdb::vector<duckdb::unique_ptr<ColumnBuilder>> children_;
	duckdb::vector<duckdb::sel_t> scratch_;
};

class ListColumnBuilder final : public ColumnBuilder {
public:
	ListColumnBuilder(duckdb::Allocator &allocator, const LogicalType &type)
		: entries_(allocator), validity_(allocator),
		  child_(ColumnBuilder::Create(allocator, duckdb::ListType::GetChildType(type), ConstantPolicy::FORBIDDEN)) {
	}

	//! A row that is repeated, as in a constant vector or after a join, shares the elements of the row before.
	void Append(const PreparedColumn &column, const RowSet &rows) override {
		const auto source = reinterpret_cast<const duckdb::list_entry_t *>(column.format.data);
		auto &validity = column.format.validity;
		const auto source_rows = Compose(rows, *column.format.sel, scratch_);
		const auto target = reinterpret_cast<PageListEntry *>(entries_.Extend(rows.count * sizeof(PageListEntry)));
		ElementGatherer gatherer(*child_, column.children[0], elements_);
		idx_t previous_row = duckdb::DConstants::INVALID_INDEX;
		for (idx_t i = 0; i < rows.count; i++) {
			const auto row = source_rows.Get(i);
			if (row == previous_row) {
				target[i] = target[i - 1];
			} else if (!validity.RowIsValid(row) || source[row].length == 0) {
				target[i] = PageListEntry{};
			} else {
				target[i] = AddElements(source[row].length);
				gatherer.Add(source[row].offset, source[row].length);
			}
			previous_row = row;
		}
		gatherer.Finish();
		validity_.Append(validity, source_rows);
		row_count_ += rows.count;
	}

	void AppendNulls(idx_t count) override {
		memset(entries_.Extend(count * sizeof(PageListEntry)), 0, count * sizeof(PageListEntry));
		validity_.AppendNulls(count);
		row_count_ += count;
	}

	idx_t ByteSize() const override {
		return sizeof(ColumnHeader) + validity_.SectionSize() + AlignToPage(entries_.Size()) + child_->ByteSize();
	}

	void Write(SectionWriter &writer) const override {
		ColumnHeader header{};
		header.kind = ColumnKind::LIST;
		header.encoding = validity_.Encoding();
		header.row_count = row_count_;
		header.extent = element_count_;
		writer.WriteHeader(header);
		validity_.Write(writer);
		writer.WriteSection(entries_.Data(), entries_.Size());
		child_->Write(writer);
	}

	void Clear() override {
		entries_.Clear();
		validity_.Clear();
		child_->Clear();
		row_count_ = 0;
		element_count_ = 0;
	}

private:
	PageListEntry AddElements(idx_t length) {
		static constexpr idx_t MAX_ELEMENTS = duckdb::NumericLimits<uint32_t>::Maximum();
		if (length > MAX_ELEMENTS - element_count_) {
			throw duckdb::OutOfRangeException("The lists of one page cannot have more than %llu elements together",
											  MAX_ELEMENTS);
		}
		const PageListEntry result{uint32_t(element_count_), uint32_t(length)};
		element_count_ += length;
		return result;
	}

	idx_t row_count_ = 0;
	idx_t element_count_ = 0;
	GrowingBuffer entries_;
	ValidityBuilder validity_;
	duckdb::unique_ptr<ColumnBuilder> child_;
	duckdb::vector<duckdb::sel_t> scratch_;
	duckdb::vector<duckdb::sel_t> elements_;
};

class ArrayColumnBuilder final : public ColumnBuilder {
public:
	ArrayColumnBuilder(duckdb::Allocator &allocator, const LogicalType &type)
		: array_size_(duckdb::ArrayType::GetSize(type)), validity_(allocator),
		  child_(ColumnBuilder::Create(allocator, duckdb::ArrayType::GetChildType(type), ConstantPolicy::FORBIDDEN)) {
	}

	void Append(const PreparedColumn &column, const RowSet &rows) override {
		auto &validity = column.format.validity;
		const auto source_rows = Compose(rows, *column.format.sel, scratch_);
		ElementGatherer gatherer(*child_, column.children[0], elements_);
		for (idx_t i = 0; i < rows.count; i++) {
			const auto row = source_rows.Get(i);
			if (validity.RowIsValid(row)) {
				gatherer.Add(row * array_size_, array_size_);
			} else {
				gatherer.AddNulls(array_size_);
			}
		}
		gatherer.Finish();
		validity_.Append(validity, source_rows);
		row_count_ += rows.count;
	}

	void AppendNulls(idx_t count) override {
		child_->AppendNulls(count * array_size_);
		validity_.AppendNulls(count);
		row_count_ += count;
	}

	idx_t ByteSize() const override {
		return sizeof(ColumnHeader) + validity_.SectionSize() + child_->ByteSize();
	}

	void Write(SectionWriter &writer) const override {
		ColumnHeader header{};
		header.kind = ColumnKind::ARRAY;
		header.encoding = validity_.Encoding();
		header.parameter = duckdb::NumericCast<uint32_t>(array_size_);
		header.row_count = row_count_;
		writer.WriteHeader(header);
		validity_.Write(writer);
		child_->Write(writer);
	}

	void Clear() override {
		validity_.Clear();
		child_->Clear();
		row_count_ = 0;
	}

private:
	const idx_t array_size_;
	idx_t row_count_ = 0;
	ValidityBuilder validity_;
	duckdb::unique_ptr<ColumnBuilder> child_;
	duckdb::vector<duckdb::sel_t> scratch_;
	duckdb::vector<duckdb::sel_t> elements_;
};

class StructColumnReader final : public ColumnReader {
public:
	StructColumnReader(const ReaderContext &context, SectionCursor &cursor, const ColumnHeader &header,
					   const LogicalType &type, ConstantPolicy constants)
		: verify_values_(context.verify_values), type_(type) {
		auto &child_types = duckdb::StructType::GetChildTypes(type_);
		if (header.parameter != child_types.size()) {
			throw SerializationException("Malformed page: a struct of %llu children expected, %llu found",
										 idx_t(child_types.size()), idx_t(header.parameter));
		}
		validity_ = ReadValidity(cursor, header);
		for (auto &child : child_types) {
			children_.push_back(ColumnReader::Create(context, cursor, child.second, header.row_count, constants));
		}
	}

	void Read(idx_t start, idx_t count, Vector &target) override {
		auto &child_types = duckdb::StructType::GetChildTypes(type_);
		auto buffer = duckdb::make_buffer<duckdb::VectorStructBuffer>();
		for (idx_t i = 0; i < children_.size(); i++) {
			auto child = duckdb::make_uniq<Vector>(child_types[i].second, nullptr);
			children_[i]->Read(start, count, *child);
			buffer->GetChildren().push_back(std::move(child));
		}
		Vector result(type_, nullptr);
		result.SetAuxiliary(std::move(buffer));
		validity_.Read(start, count, duckdb::FlatVector::Validity(result));
		if (verify_values_) {
			VerifyValues(result, count);
		}
		target.Reference(result);
	}

private:
	const bool verify_values_;
	const LogicalType type_;
	PageValidity validity_;
	duckdb::vector<duckdb::unique_ptr<ColumnReader>> children_;
};

class ListColumnReader final : public ColumnReader {
public:
	ListColumnReader(const ReaderContext &context, SectionCursor &cursor, const ColumnHeader &header,
					 const LogicalType &type)
		: type_(type), element_count_(header.extent) {
		if (element_count_ > duckdb::NumericLimits<uint32_t>::Maximum()) {
			throw SerializationException("Malformed page: lists with %llu elements", element_count_);
		}
		validity_ = ReadValidity(cursor, header);
		entries_ = reinterpret_cast<const PageListEntry *>(cursor.ReadSection(header.row_count, sizeof(PageListEntry)));
		child_ = ColumnReader::Create(context, cursor, duckdb::ListType::GetChildType(type_), element_count_,
									  ConstantPolicy::FORBIDDEN);
	}

	//! The child vector holds no more than the elements that these rows refer to.
	void Read(idx_t start, idx_t count, Vector &target) override {
		Vector entries(LogicalType::UHUGEINT, count);
		const auto [begin, end] =
			ReadEntries(start, count, reinterpret_cast<duckdb::list_entry_t *>(duckdb::FlatVector::GetData(entries)));
		auto child = duckdb::make_uniq<Vector>(duckdb::ListType::GetChildType(type_), nullptr);
		child_->Read(begin, end - begin, *child);
		auto buffer = duckdb::make_buffer<duckdb::VectorListBuffer>(std::move(child), end - begin);
		buffer->SetSize(end - begin);

		Vector result(type_, nullptr);
		result.CopyBuffer(entries);
		result.SetAuxiliary(std::move(buffer));
		validity_.Read(start, count, duckdb::FlatVector::Validity(result));
		target.Reference(result);
	}

private:
	//! Fills `target` with entries relative to the returned range of the child.
	std::pair<idx_t, idx_t> ReadEntries(idx_t start, idx_t count, duckdb::list_entry_t *target) const {
		static_assert(sizeof(duckdb::list_entry_t) == sizeof(duckdb::uhugeint_t));
		const auto source = entries_ + start;
		idx_t begin = element_count_;
		idx_t end = 0;
		for (idx_t i = 0; i < count; i++) {
			const idx_t entry_begin = source[i].offset;
			const idx_t entry_end = entry_begin + source[i].length;
			if (entry_end > element_count_) {
				throw SerializationException("Malformed page: a list ends at element %llu of %llu", entry_end,
											 element_count_);
			}
			if (entry_end > entry_begin) {
				begin = duckdb::MinValue(begin, entry_begin);
				end = duckdb::MaxValue(end, entry_end);
			}
		}
		begin = duckdb::MinValue(begin, end);
		for (idx_t i = 0; i < count; i++) {
			const idx_t length = source[i].length;
			target[i] = duckdb::list_entry_t(length == 0 ? 0 : source[i].offset - begin, length);
		}
		return {begin, end};
	}

	const LogicalType type_;
	const idx_t element_count_;
	PageValidity validity_;
	const PageListEntry *entries_;
	duckdb::unique_ptr<ColumnReader> child_;
};

class ArrayColumnReader final : public ColumnReader {
public:
	ArrayColumnReader(const ReaderContext &context, SectionCursor &cursor, const ColumnHeader &header,
					  const LogicalType &type)
		: type_(type), array_size_(duckdb::ArrayType::GetSize(type)) {
		if (header.parameter != array_size_ ||
			header.row_count > duckdb::NumericLimits<idx_t>::Maximum() / array_size_) {
			throw SerializationException("Malformed page: %llu arrays of size %llu, expected size %llu",
										 header.row_count, idx_t(header.parameter), array_size_);
		}
		validity_ = ReadValidity(cursor, header);
		child_ = ColumnReader::Create(context, cursor, duckdb::ArrayType::GetChildType(type_),
									  header.row_count * array_size_, ConstantPolicy::FORBIDDEN);
	}

	void Read(idx_t start, idx_t count, Vector &target) override {
		auto child = duckdb::make_uniq<Vector>(duckdb::ArrayType::GetChildType(type_), nullptr);
		child_->Read(start * array_size_, count * array_size_, *child);
		Vector result(type_, nullptr);
		result.SetAuxiliary(duckdb::make_buffer<duckdb::VectorArrayBuffer>(std::move(child), array_size_, count));
		validity_.Read(start, count, duckdb::FlatVector::Validity(result));
		target.Reference(result);
	}

private:
	const LogicalType type_;
	const idx_t array_size_;
	PageValidity validity_;
	duckdb::unique_ptr<ColumnReader> child_;
};

} // namespace

duckdb::unique_ptr<ColumnBuilder> CreateNestedBuilder(duckdb::Allocator &allocator, const LogicalType &type,
													  ConstantPolicy constants) {
	switch (type.InternalType()) {
	case PhysicalType::STRUCT:
		return duckdb::make_uniq<StructColumnBuilder>(allocator, type, constants);
	case PhysicalType::LIST:
		return duckdb::make_uniq<ListColumnBuilder>(allocator, type);
	case PhysicalType::ARRAY:
		return duckdb::make_uniq<ArrayColumnBuilder>(allocator, type);
	default:
		throw duckdb::InternalException("Type %s is not nested", type.ToString());
	}
}

duckdb::unique_ptr<ColumnReader> CreateNestedReader(const ReaderContext &context, SectionCursor &cursor,
													const ColumnHeader &header, const LogicalType &type,
													ConstantPolicy constants) {
	switch (type.InternalType()) {
	case PhysicalType::STRUCT:
		return duckdb::make_uniq<StructColumnReader>(context, cursor, header, type, constants);
	case PhysicalType::LIST:
		return duckdb::make_uniq<ListColumnReader>(context, cursor, header, type);
	case PhysicalType::ARRAY:
		return duckdb::make_uniq<ArrayColumnReader>(context, cursor, header, type);
	default:
		throw duckdb::InternalException("Type %s is not nested", type.ToString());
	}
}

} // namespace skein
