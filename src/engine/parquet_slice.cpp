#include "engine/parquet_slice.hpp"

#include "engine/parquet_slice_reader.hpp"
#include "engine/slice_scan.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/parsed_data/create_table_function_info.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

namespace duckdb {
namespace skein_parquet {

namespace {

using SliceScan = MultiFileFunction<SliceInterface>;

//! All that a slice's bind data is made of; the rest follows from it.
struct SliceDescription {
	vector<LogicalType> types;
	vector<string> names;
	vector<string> table_columns;
	ParquetOptionsSerialization options;
	MultiFileReaderBindData reader_bind;
	vector<skein::ParquetSliceFile> files;
	optional_idx leaf;
};

//! The columns of `read_parquet(schema=...)`, as parquet_scan's binder describes them.
void SetSchema(const ParquetOptions &options, MultiFileReaderBindData &reader_bind) {
	reader_bind.schema.clear();
	reader_bind.mapping = MultiFileColumnMappingMode::BY_NAME;
	if (options.schema.empty()) {
		return;
	}
	for (auto &column : options.schema) {
		MultiFileColumnDefinition definition(column.name, column.type);
		definition.identifier = column.identifier;
		definition.default_expression = make_uniq<ConstantExpression>(column.default_value);
		reader_bind.schema.push_back(std::move(definition));
	}
	if (options.file_row_number) {
		MultiFileColumnDefinition definition("file_row_number", LogicalType::BIGINT);
		definition.identifier = Value::INTEGER(MultiFileReader::ORDINAL_FIELD_ID);
		reader_bind.schema.push_back(std::move(definition));
	}
	if (options.schema[0].identifier.type().id() == LogicalTypeId::INTEGER) {
		reader_bind.mapping = MultiFileColumnMappingMode::BY_FIELD_ID;
	}
}

unique_ptr<MultiFileBindData> MakeBindData(SliceDescription description) {
	auto slice = make_uniq<SliceBindData>();
	slice->options = std::move(description.options.parquet_options);
	slice->files = std::move(description.files);
	slice->leaf = description.leaf;
	slice->CountUnits();

	auto result = make_uniq<MultiFileBindData>();
	result->file_list = skein::ListSliceFiles(slice->files);
	result->multi_file_reader = make_uniq<SliceMultiFileReader>();
	result->interface = make_uniq<SliceInterface>();
	result->columns = MultiFileColumnDefinition::ColumnsFromNamesAndTypes(description.names, description.types);
	result->reader_bind = std::move(description.reader_bind);
	SetSchema(slice->options, result->reader_bind);
	result->file_options = std::move(description.options.file_options);
	result->types = std::move(description.types);
	result->names = std::move(description.names);
	result->table_columns = std::move(description.table_columns);
	result->bind_data = std::move(slice);
	return result;
}

//! The files, column by column.
void WriteFiles(Serializer &object, const skein::SharedFiles<skein::ParquetSliceFile> &files) {
	vector<uint64_t> footer_hashes;
	vector<idx_t> rows, range_counts, bounds;
	footer_hashes.reserve(files.size());
	rows.reserve(files.size());
	range_counts.reserve(files.size());
	bounds.reserve(2 * files.size());
	for (auto &file : files) {
		footer_hashes.push_back(file.footer_hash);
		rows.push_back(file.rows);
		range_counts.push_back(file.ranges.size());
		for (auto &range : file.ranges) {
			bounds.push_back(range.begin);
			bounds.push_back(range.end);
		}
	}
	object.WriteObject(100, "files", [&](Serializer &list) {
		skein::WriteSliceFiles(list, files.size(), [&](idx_t i) -> const skein::SliceFile & { return files[i]; });
	});
	object.WriteProperty(101, "footer_hashes", footer_hashes);
	object.WriteProperty(102, "rows", rows);
	object.WriteProperty(103, "range_counts", range_counts);
	object.WriteProperty(104, "row_group_bounds", bounds);
}

vector<skein::ParquetSliceFile> ReadFiles(Deserializer &object) {
	vector<skein::SliceFile> files;
	object.ReadObject(100, "files", [&](Deserializer &list) { files = skein::ReadSliceFiles(list); });
	auto footer_hashes = object.ReadProperty<vector<uint64_t>>(101, "footer_hashes");
	auto rows = object.ReadProperty<vector<idx_t>>(102, "rows");
	auto range_counts = object.ReadProperty<vector<idx_t>>(103, "range_counts");
	auto bounds = object.ReadProperty<vector<idx_t>>(104, "row_group_bounds");
	if (footer_hashes.size() != files.size() || rows.size() != files.size() || range_counts.size() != files.size()) {
		throw SerializationException("A slice of %llu files has other numbers of footers or rows", files.size());
	}
	vector<skein::ParquetSliceFile> result(files.size());
	idx_t next = 0;
	for (idx_t i = 0; i < files.size(); i++) {
		static_cast<skein::SliceFile &>(result[i]) = std::move(files[i]);
		result[i].footer_hash = footer_hashes[i];
		result[i].rows = rows[i];
		for (idx_t range = 0; range < range_counts[i]; range++, next += 2) {
			if (next + 1 >= bounds.size()) {
				throw SerializationException("A slice lacks row groups");
			}
			result[i].ranges.push_back({bounds[next], bounds[next + 1]});
		}
	}
	return result;
}

void SerializeSlice(Serializer &serializer, const optional_ptr<FunctionData> bind_data_p, const TableFunction &) {
	auto &bind_data = bind_data_p->Cast<MultiFileBindData>();
	auto &slice = bind_data.bind_data->Cast<SliceBindData>();
	serializer.WriteProperty(100, "types", bind_data.types);
	serializer.WriteProperty(101, "names", bind_data.names);
	serializer.WriteProperty(102, "table_columns", bind_data.table_columns);
	serializer.WriteProperty(103, "options", ParquetOptionsSerialization(slice.options, bind_data.file_options));
	serializer.WriteProperty(104, "reader_bind", bind_data.reader_bind);
	serializer.WriteObject(105, "files", [&](Serializer &object) { WriteFiles(object, slice.files); });
	serializer.WriteProperty(106, "leaf", slice.leaf);
	serializer.WritePropertyWithDefault(107, "variant_legacy_encoding", slice.options.variant_legacy_encoding, false);
}

unique_ptr<FunctionData> DeserializeSlice(Deserializer &deserializer, TableFunction &) {
	SliceDescription description;
	description.types = deserializer.ReadProperty<vector<LogicalType>>(100, "types");
	description.names = deserializer.ReadProperty<vector<string>>(101, "names");
	description.table_columns = deserializer.ReadProperty<vector<string>>(102, "table_columns");
	description.options = deserializer.ReadProperty<ParquetOptionsSerialization>(103, "options");
	description.reader_bind = deserializer.ReadProperty<MultiFileReaderBindData>(104, "reader_bind");
	deserializer.ReadObject(105, "files", [&](Deserializer &object) { description.files = ReadFiles(object); });
	description.leaf = deserializer.ReadProperty<optional_idx>(106, "leaf");
	description.options.parquet_options.variant_legacy_encoding =
		deserializer.ReadPropertyWithExplicitDefault(107, "variant_legacy_encoding", false);
	return MakeBindData(std::move(description));
}

unique_ptr<FunctionData> RefuseToBind(ClientContext &, TableFunctionBindInput &, vector<LogicalType> &,
									  vector<string> &) {
	throw BinderException("skein_parquet_slice is only used inside of distributed plans; use read_parquet");
}

unique_ptr<NodeStatistics> SliceCardinality(ClientContext &, const FunctionData *bind_data) {
	auto rows = bind_data->Cast<MultiFileBindData>().bind_data->Cast<SliceBindData>().Rows();
	return make_uniq<NodeStatistics>(rows, rows);
}

bool PushDownExpression(ClientContext &, const LogicalGet &, Expression &) {
	return true;
}

vector<column_t> RowIdColumns(ClientContext &, optional_ptr<FunctionData>) {
	return {MultiFileReader::COLUMN_IDENTIFIER_FILE_INDEX, MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER};
}

//! As parquet_scan, but for what would speak of whole files (`statistics`, `get_partition_stats`) or bind.
TableFunction SliceFunction() {
	SliceScan function("skein_parquet_slice");
	function.arguments.clear();
	function.named_parameters.clear();
	function.bind = RefuseToBind;
	function.cardinality = SliceCardinality;
	function.serialize = SerializeSlice;
	function.deserialize = DeserializeSlice;
	function.get_row_id_columns = RowIdColumns;
	function.pushdown_expression = PushDownExpression;
	function.get_metrics = GetSliceMetrics;
	function.filter_pushdown = true;
	function.filter_prune = true;
	function.late_materialization = true;
	return static_cast<TableFunction>(function);
}

unique_ptr<LogicalGet> MakeSlice(ClientContext &context, const LogicalGet &get, vector<skein::ParquetSliceFile> files) {
	auto &scan = get.bind_data->Cast<MultiFileBindData>();
	SliceDescription description;
	description.types = scan.types;
	description.names = scan.names;
	description.table_columns = scan.table_columns;
	description.options = OptionsOf(context, get.function, scan);
	description.reader_bind = scan.reader_bind;
	description.files = std::move(files);
	auto bind_data = MakeBindData(std::move(description));
	auto rows = bind_data->bind_data->Cast<SliceBindData>().Rows();
	auto slice = skein::MakeSliceScan(context, get, SliceFunction(), std::move(bind_data));
	slice->SetEstimatedCardinality(rows);
	return slice;
}

} // namespace

unique_ptr<FunctionData> SliceBindData::Part(const FunctionData &bind_data, skein::UnitRange units) const {
	auto &slice = bind_data.Cast<MultiFileBindData>();
	SliceDescription description;
	description.types = slice.types;
	description.names = slice.names;
	description.table_columns = slice.table_columns;
	description.options = ParquetOptionsSerialization(options, slice.file_options);
	description.reader_bind = slice.reader_bind;
	description.files = FilesOf(units);
	description.leaf = leaf;
	return MakeBindData(std::move(description));
}

} // namespace skein_parquet
} // namespace duckdb

namespace skein {

void RegisterParquetSlice(duckdb::DatabaseInstance &db) {
	duckdb::TableFunctionSet functions("skein_parquet_slice");
	functions.AddFunction(duckdb::skein_parquet::SliceFunction());
	duckdb::CreateTableFunctionInfo info(std::move(functions));
	info.on_conflict = duckdb::OnCreateConflict::IGNORE_ON_CONFLICT;
	duckdb::ExtensionLoader(db, "skein").RegisterFunction(std::move(info));
}

duckdb::unique_ptr<duckdb::LogicalGet> MakeParquetSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
														duckdb::vector<ParquetSliceFile> files) {
	return duckdb::skein_parquet::MakeSlice(context, get, std::move(files));
}

} // namespace skein
