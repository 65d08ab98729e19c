#include "engine/parquet_digest.hpp"

namespace duckdb {
namespace skein_parquet {

namespace {

using duckdb_parquet::ColumnChunk;

ChunkDigest DigestOf(const ColumnChunk &chunk) {
	auto &metadata = chunk.meta_data;
	ChunkDigest result;
	result.values = metadata.num_values;
	result.has_statistics = chunk.__isset.meta_data && metadata.__isset.statistics;
	if (!result.has_statistics) {
		return result;
	}
	auto &statistics = metadata.statistics;
	if (statistics.__isset.null_count) {
		result.nulls = statistics.null_count;
	}
	// The old names count only where the new ones are missing.
	result.old_names = !statistics.__isset.min_value && !statistics.__isset.max_value;
	if (result.old_names ? statistics.__isset.min : statistics.__isset.min_value) {
		result.min = result.old_names ? statistics.min : statistics.min_value;
	}
	if (result.old_names ? statistics.__isset.max : statistics.__isset.max_value) {
		result.max = result.old_names ? statistics.max : statistics.max_value;
	}
	return result;
}

ColumnChunk ToChunk(const ChunkDigest &digest) {
	ColumnChunk result;
	result.__isset.meta_data = true;
	auto &metadata = result.meta_data;
	metadata.num_values = digest.values;
	metadata.__isset.statistics = digest.has_statistics;
	auto &statistics = metadata.statistics;
	if (digest.nulls) {
		statistics.__set_null_count(*digest.nulls);
	}
	if (digest.min) {
		digest.old_names ? statistics.__set_min(*digest.min) : statistics.__set_min_value(*digest.min);
	}
	if (digest.max) {
		digest.old_names ? statistics.__set_max(*digest.max) : statistics.__set_max_value(*digest.max);
	}
	return result;
}

void AddText(const ParquetColumnSchema &column, string &text) {
	text += column.name + '\n' + column.type.ToString();
	for (auto number :
		 {column.max_define, column.max_repeat, column.schema_index.IsValid() ? column.schema_index.GetIndex() + 1 : 0,
		  column.column_index, static_cast<idx_t>(column.schema_type),
		  column.parent_schema_index.IsValid() ? column.parent_schema_index.GetIndex() + 1 : 0,
		  static_cast<idx_t>(column.type_length), static_cast<idx_t>(column.type_scale),
		  static_cast<idx_t>(column.parquet_type), static_cast<idx_t>(column.type_info),
		  column.field_id.IsValid() ? column.field_id.GetIndex() + 1 : 0, static_cast<idx_t>(column.repetition_type),
		  static_cast<idx_t>(column.allow_geometry), column.children.size()}) {
		text += ' ' + std::to_string(number);
	}
	text += '\n';
	for (auto &child : column.children) {
		AddText(child, text);
	}
}

} // namespace

ParquetDigest DigestOf(ParquetReader &reader, timestamp_t opened_at) {
	ParquetDigest result;
	auto schema = std::make_shared<ParquetFileSchema>();
	schema->columns = reader.GetColumns();
	schema->root = ParquetColumnSchema(*reader.root_schema);
	result.schema = std::move(schema);
	result.version = VersionOf(reader);
	result.opened_at = opened_at;
	result.list_tag = reader.GetHandle().GetVersionTag();
	auto &row_groups = reader.GetFileMetadata()->row_groups;
	result.chunk_count = row_groups.empty() ? 0 : row_groups[0].columns.size();
	result.rows_and_bytes.reserve(row_groups.size() * (result.chunk_count + 1));
	result.chunks.reserve(row_groups.size() * result.chunk_count);
	for (auto &row_group : row_groups) {
		if (row_group.columns.size() != result.chunk_count) {
			throw InvalidInputException("its row groups have different numbers of columns");
		}
		result.rows_and_bytes.push_back(NumericCast<idx_t>(row_group.num_rows));
		for (auto &chunk : row_group.columns) {
			result.rows_and_bytes.push_back(NumericCast<idx_t>(chunk.meta_data.total_compressed_size));
			result.chunks.push_back(DigestOf(chunk));
		}
	}
	return result;
}

string TextOf(const ParquetFileSchema &schema) {
	string text;
	AddText(schema.root, text);
	for (auto &column : schema.columns) {
		text += column.name + '\n' + column.type.ToString() + '\n' + column.identifier.ToString() + '\n';
	}
	return text;
}

unique_ptr<BaseStatistics> StatisticsOf(const ParquetDigest &digest, idx_t row_group, const ParquetColumnSchema &column,
										const ParquetOptions &options) {
	duckdb_parquet::FileMetaData metadata;
	vector<ColumnChunk> chunks;
	if (column.schema_type == ParquetColumnSchemaType::FILE_ROW_NUMBER) {
		metadata.row_groups.resize(row_group + 1);
		for (idx_t i = 0; i <= row_group; i++) {
			metadata.row_groups[i].num_rows = NumericCast<int64_t>(digest.Rows(i));
		}
	} else {
		chunks.resize(column.column_index + 1);
		chunks.back() = ToChunk(digest.Chunk(row_group, column.column_index));
	}
	return column.Stats(metadata, options, row_group, chunks);
}

idx_t ParquetDigest::Memory() const {
	idx_t result = sizeof(ParquetDigest) + version.tag.capacity() + list_tag.capacity() +
				   rows_and_bytes.capacity() * sizeof(idx_t) + chunks.capacity() * sizeof(ChunkDigest);
	for (auto &chunk : chunks) {
		for (auto text : {&chunk.min, &chunk.max}) {
			// Short texts are inside of the object.
			result += *text && (*text)->capacity() >= sizeof(string) ? (*text)->capacity() : 0;
		}
	}
	return result;
}

} // namespace skein_parquet
} // namespace duckdb
