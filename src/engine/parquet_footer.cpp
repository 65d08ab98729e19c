#include "engine/parquet_footer.hpp"

#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/common/types/hash.hpp"

namespace duckdb {
namespace skein_parquet {

namespace {

class FooterHash {
public:
	void Add(int64_t value) {
		hash_ = CombineHash(hash_ * 31, Hash<int64_t>(value));
	}
	void Add(const std::string &value) {
		Add(static_cast<int64_t>(value.size()));
		hash_ = CombineHash(hash_ * 31, Hash(value.data(), value.size()));
	}
	uint64_t Get() const {
		return hash_;
	}

private:
	hash_t hash_ = 0;
};

uint64_t HashFooter(const FileMetaData &metadata) {
	FooterHash hash;
	hash.Add(metadata.num_rows);
	hash.Add(static_cast<int64_t>(metadata.schema.size()));
	for (auto &row_group : metadata.row_groups) {
		hash.Add(row_group.num_rows);
		hash.Add(row_group.total_byte_size);
		for (auto &column : row_group.columns) {
			auto &chunk = column.meta_data;
			hash.Add(chunk.data_page_offset);
			hash.Add(chunk.total_compressed_size);
			hash.Add(chunk.total_uncompressed_size);
			hash.Add(chunk.num_values);
			hash.Add(chunk.statistics.min_value);
			hash.Add(chunk.statistics.max_value);
			hash.Add(chunk.statistics.null_count);
		}
	}
	return hash.Get();
}

} // namespace

ParquetOptionsSerialization OptionsOf(ClientContext &context, const TableFunction &parquet_scan,
									  const MultiFileBindData &bind_data) {
	// Without the files, which parquet_scan would write too.
	MultiFileBindData bound;
	bound.file_list = make_shared_ptr<SimpleMultiFileList>(vector<OpenFileInfo>());
	bound.file_options = bind_data.file_options;
	bound.bind_data = unique_ptr_cast<FunctionData, TableFunctionData>(bind_data.bind_data->Copy());

	MemoryStream stream;
	BinarySerializer serializer(stream);
	serializer.Begin();
	parquet_scan.GetSerializeCallback()(serializer, &bound, parquet_scan);
	serializer.End();
	stream.Rewind();

	BinaryDeserializer deserializer(stream);
	deserializer.Begin();
	deserializer.ReadProperty<vector<string>>(100, "files");
	deserializer.ReadProperty<vector<LogicalType>>(101, "types");
	deserializer.ReadProperty<vector<string>>(102, "names");
	auto result = deserializer.ReadProperty<ParquetOptionsSerialization>(103, "parquet_options");
	// DuckDB takes it from a setting of the whole instance, and does not write it.
	result.parquet_options.variant_legacy_encoding = ParquetOptions(context).variant_legacy_encoding;
	return result;
}

skein::ParquetFileVersion VersionOf(ParquetReader &reader) {
	auto &handle = reader.GetHandle();
	skein::ParquetFileVersion version;
	version.size = handle.GetFileSize();
	version.last_modified = handle.GetLastModifiedTime();
	if (FileSystem::IsRemoteFile(handle.GetPath())) {
		version.tag = handle.GetVersionTag();
	}
	version.footer_hash = HashFooter(*reader.GetFileMetadata());
	return version;
}

optional_idx FindColumn(const vector<MultiFileColumnDefinition> &columns, const MultiFileColumnDefinition &global,
						MultiFileColumnMappingMode mapping) {
	for (idx_t i = 0; i < columns.size(); i++) {
		auto same = mapping == MultiFileColumnMappingMode::BY_FIELD_ID
						? columns[i].identifier.type().id() == LogicalTypeId::INTEGER &&
							  !columns[i].identifier.IsNull() && columns[i].identifier == global.identifier
						: StringUtil::CIEquals(columns[i].name, global.GetIdentifierName());
		if (same) {
			return i;
		}
	}
	return optional_idx();
}

const vector<MultiFileColumnDefinition> &GlobalColumns(const MultiFileBindData &bind_data) {
	return bind_data.reader_bind.schema.empty() ? bind_data.columns : bind_data.reader_bind.schema;
}

bool IsFileColumn(const MultiFileBindData &bind_data, column_t column) {
	if (IsVirtualColumn(column)) {
		return false;
	}
	auto &bind = bind_data.reader_bind;
	if (bind.filename_idx.IsValid() && bind.filename_idx.GetIndex() == column) {
		return false;
	}
	for (auto &partition : bind.hive_partitioning_indexes) {
		if (partition.index == column) {
			return false;
		}
	}
	return true;
}

} // namespace skein_parquet
} // namespace duckdb
