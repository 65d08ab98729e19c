#include "wire/page_codec_columns.hpp"

#include <cstdlib>
#include <new>

namespace skein {

using duckdb::data_ptr_t;
using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::PhysicalType;
using duckdb::SerializationException;

static ColumnKind KindOf(const LogicalType &type) {
	switch (type.InternalType()) {
	case PhysicalType::VARCHAR:
		return ColumnKind::STRING;
	case PhysicalType::STRUCT:
		return ColumnKind::STRUCT;
	case PhysicalType::LIST:
		return ColumnKind::LIST;
	case PhysicalType::ARRAY:
		return ColumnKind::ARRAY;
	case PhysicalType::BIT:
		return ColumnKind::FIXED;
	default:
		if (!duckdb::TypeIsConstantSize(type.InternalType())) {
			throw duckdb::NotImplementedException("Values of type %s cannot be sent between workers", type.ToString());
		}
		return ColumnKind::FIXED;
	}
}

duckdb::unique_ptr<ColumnBuilder> ColumnBuilder::Create(duckdb::Allocator &allocator, const LogicalType &type,
														ConstantPolicy constants) {
	switch (KindOf(type)) {
	case ColumnKind::FIXED:
		return CreateFixedBuilder(allocator, duckdb::GetTypeIdSize(type.InternalType()), constants);
	case ColumnKind::STRING:
		return CreateStringBuilder(allocator, constants);
	default:
		return CreateNestedBuilder(allocator, type, constants);
	}
}

void ColumnBuilder::AppendPartitioned(const PreparedColumn &column, const PartitionedRows &rows,
									  ColumnBuilder *const *builders) {
	for (idx_t partition = 0; partition < rows.partitions; partition++) {
		const auto own = rows.Of(partition);
		if (own.count > 0) {
			builders[partition]->Append(column, own);
		}
	}
}

static void CheckColumnHeader(const ColumnHeader &header, ColumnKind kind, idx_t row_count, ConstantPolicy constants) {
	if (header.kind != kind) {
		throw SerializationException("Malformed page: a column of kind %d expected, %d found", int(kind),
									 int(header.kind));
	}
	if (header.row_count != row_count) {
		throw SerializationException("Malformed page: a column of %llu rows expected, %llu found", row_count,
									 header.row_count);
	}
	const bool may_be_constant =
		constants == ConstantPolicy::ALLOWED && (kind == ColumnKind::FIXED || kind == ColumnKind::STRING);
	if (header.encoding > (may_be_constant ? ColumnEncoding::ALL_NULL : ColumnEncoding::FLAT_WITH_NULLS)) {
		throw SerializationException("Malformed page: a column of kind %d with encoding %d", int(kind),
									 int(header.encoding));
	}
}

duckdb::unique_ptr<ColumnReader> ColumnReader::Create(const ReaderContext &context, SectionCursor &cursor,
													  const LogicalType &type, idx_t row_count,
													  ConstantPolicy constants) {
	const auto header = cursor.ReadHeader<ColumnHeader>();
	CheckColumnHeader(header, KindOf(type), row_count, constants);
	switch (header.kind) {
	case ColumnKind::FIXED:
		return CreateFixedReader(context, cursor, header, type);
	case ColumnKind::STRING:
		return CreateStringReader(context, cursor, header, type);
	default:
		return CreateNestedReader(context, cursor, header, type, constants);
	}
}

RowSet Compose(const RowSet &rows, const duckdb::SelectionVector &selection, duckdb::vector<duckdb::sel_t> &scratch) {
	if (!selection.IsSet()) {
		return rows;
	}
	if (rows.IsRange()) {
		return RowSet{selection.data() + rows.offset, 0, rows.count};
	}
	if (scratch.size() < rows.count) {
		scratch.resize(rows.count);
	}
	const auto source = selection.data();
	const auto target = scratch.data();
	for (idx_t i = 0; i < rows.count; i++) {
		target[i] = source[rows.rows[i]];
	}
	return RowSet{target, 0, rows.count};
}

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

void GrowingBuffer::Grow(idx_t size) {
	static constexpr idx_t MIN_CAPACITY = 4096;
	const auto needed = size_ + size;
	const auto new_capacity = duckdb::MaxValue<idx_t>(needed, duckdb::MaxValue<idx_t>(2 * capacity_, MIN_CAPACITY));
	auto new_data = allocator_.Allocate(new_capacity);
	if (size_ > 0) {
		memcpy(new_data.get(), data_.get(), size_);
	}
	data_ = std::move(new_data);
	capacity_ = new_capacity;
}

void GrowingBuffer::Clear() {
	size_ = 0;
	if (capacity_ > MAX_KEPT_BYTES) {
		data_.Reset();
		capacity_ = 0;
	}
}

namespace {

//! Precedes every block of PageReferenceAllocator().
struct alignas(PAGE_ALIGNMENT) BlockHeader {
	std::shared_ptr<const void> owner;
};

BlockHeader *HeaderOf(data_ptr_t block) {
	return reinterpret_cast<BlockHeader *>(block) - 1;
}

data_ptr_t AllocateBlock(duckdb::PrivateAllocatorData *, idx_t size) {
	const auto memory = malloc(sizeof(BlockHeader) + size);
	if (!memory) {
		return nullptr;
	}
	return reinterpret_cast<data_ptr_t>(new (memory) BlockHeader() + 1);
}

void FreeBlock(duckdb::PrivateAllocatorData *, data_ptr_t block, idx_t) {
	const auto header = HeaderOf(block);
	header->~BlockHeader();
	free(header);
}

data_ptr_t ReallocateBlock(duckdb::PrivateAllocatorData *, data_ptr_t block, idx_t old_size, idx_t size) {
	const auto result = AllocateBlock(nullptr, size);
	if (result) {
		memcpy(result, block, duckdb::MinValue(old_size, size));
		HeaderOf(result)->owner = std::move(HeaderOf(block)->owner);
		FreeBlock(nullptr, block, old_size);
	}
	return result;
}

//! Ordinary memory, of which each block can keep something else alive. The engine uses it as any other allocator, as
//! when it resizes a vector. Never destroyed, because vectors may outlive main().
duckdb::Allocator &PageReferenceAllocator() {
	static auto &allocator = *new duckdb::Allocator(AllocateBlock, FreeBlock, ReallocateBlock, nullptr);
	return allocator;
}

} // namespace

duckdb::AllocatedData MakePageReference(std::shared_ptr<const void> owner) {
	auto result = PageReferenceAllocator().Allocate(1);
	HeaderOf(result.get())->owner = std::move(owner);
	return result;
}

duckdb::Vector MakePageVector(const LogicalType &type, duckdb::const_data_ptr_t data,
							  const std::shared_ptr<const void> &owner) {
	static constexpr idx_t NO_CAPACITY = 0;
	duckdb::Vector result(type, NO_CAPACITY);
	result.GetBuffer()->SetData(MakePageReference(owner));
	duckdb::FlatVector::SetData(result, const_cast<data_ptr_t>(data));
	return result;
}

} // namespace skein
