#include "wire/page_codec.hpp"

#include "duckdb/common/types/vector.hpp"

namespace skein {

using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::PhysicalType;
using duckdb::Vector;

static void AddChildren(PreparedColumn &column, const LogicalType &type) {
	switch (type.InternalType()) {
	case PhysicalType::STRUCT: {
		auto &child_types = duckdb::StructType::GetChildTypes(type);
		column.children.resize(child_types.size());
		for (idx_t i = 0; i < child_types.size(); i++) {
			AddChildren(column.children[i], child_types[i].second);
		}
		break;
	}
	case PhysicalType::LIST:
		column.children.resize(1);
		AddChildren(column.children[0], duckdb::ListType::GetChildType(type));
		break;
	case PhysicalType::ARRAY:
		column.children.resize(1);
		AddChildren(column.children[0], duckdb::ArrayType::GetChildType(type));
		break;
	default:
		break;
	}
}

//! The number of arrays in the vector below `format`, as far as the rows 0 .. count can see it.
static idx_t VisibleArrays(const duckdb::UnifiedVectorFormat &format, idx_t count) {
	if (!format.sel->IsSet()) {
		return count;
	}
	idx_t result = 0;
	for (idx_t i = 0; i < count; i++) {
		result = duckdb::MaxValue<idx_t>(result, format.sel->get_index(i) + 1);
	}
	return result;
}

static void PrepareColumn(Vector &vector, idx_t count, PreparedColumn &column) {
	column.is_constant = vector.GetVectorType() == duckdb::VectorType::CONSTANT_VECTOR;
	if (vector.GetVectorType() == duckdb::VectorType::FLAT_VECTOR) {
		// ToUnifiedFormat() would also flatten the children.
		column.format.sel = duckdb::FlatVector::IncrementalSelectionVector();
		column.format.data = vector.GetData();
		column.format.validity = duckdb::FlatVector::Validity(vector);
		column.format.physical_type = vector.GetType().InternalType();
	} else {
		vector.ToUnifiedFormat(count, column.format);
	}
	if (column.children.empty()) {
		return;
	}
	const auto physical_type = vector.GetType().InternalType();
	if (column.is_constant && !column.format.validity.RowIsValid(0) && physical_type != PhysicalType::STRUCT) {
		return; // a constant NULL need not have child vectors
	}
	switch (physical_type) {
	case PhysicalType::STRUCT: {
		// The children of a struct go by the row, not by the position to which the struct's selection leads.
		auto &children = duckdb::StructVector::GetEntries(vector);
		for (idx_t i = 0; i < children.size(); i++) {
			PrepareColumn(*children[i], count, column.children[i]);
		}
		break;
	}
	case PhysicalType::LIST:
		PrepareColumn(duckdb::ListVector::GetEntry(vector), duckdb::ListVector::GetListSize(vector),
					  column.children[0]);
		break;
	case PhysicalType::ARRAY: {
		const auto array_size = duckdb::ArrayType::GetSize(vector.GetType());
		PrepareColumn(duckdb::ArrayVector::GetEntry(vector), VisibleArrays(column.format, count) * array_size,
					  column.children[0]);
		break;
	}
	default:
		throw duckdb::InternalException("Type %s has no children", vector.GetType().ToString());
	}
}

PreparedChunk::PreparedChunk(const duckdb::vector<LogicalType> &types) {
	columns_.resize(types.size());
	for (idx_t i = 0; i < types.size(); i++) {
		AddChildren(columns_[i], types[i]);
	}
}

void PreparedChunk::Prepare(duckdb::DataChunk &chunk) {
	D_ASSERT(chunk.ColumnCount() == columns_.size());
	row_count_ = chunk.size();
	if (row_count_ == 0) {
		return;
	}
	for (idx_t i = 0; i < columns_.size(); i++) {
		PrepareColumn(chunk.data[i], row_count_, columns_[i]);
	}
}

} // namespace skein
