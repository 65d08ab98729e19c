#include "engine/text_slice.hpp"

#include "engine/slice_scan.hpp"
#include "engine/slice_units.hpp"
#include "engine/text_slice_parts.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/parsed_data/create_table_function_info.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

namespace duckdb {
namespace skein_text {

namespace {

unique_ptr<FunctionData> RefuseToBind(ClientContext &, TableFunctionBindInput &input, vector<LogicalType> &,
									  vector<string> &) {
	throw BinderException("%s is only used inside of distributed plans", input.table_function.name);
}

unique_ptr<LogicalGet> MakeSlice(ClientContext &context, const LogicalGet &get, vector<skein::SliceFile> files) {
	auto &scan = get.bind_data->Cast<MultiFileBindData>();
	switch (KindOf(scan)) {
	case SliceKind::CSV:
		return skein::MakeSliceScan(context, get, CsvSliceFunction(), MakeCsvSlice(context, scan, std::move(files)));
	case SliceKind::JSON:
		return skein::MakeSliceScan(context, get, JsonSliceFunction(), MakeJsonSlice(scan, std::move(files)));
	case SliceKind::WHOLE_FILE:
		return skein::MakeSliceScan(context, get, FileSliceFunction(), MakeFileSlice(scan, std::move(files)));
	default:
		throw InternalException("%s has no slices", get.function.name);
	}
}

} // namespace

SliceDescription SliceDescription::Of(const MultiFileBindData &scan, skein::SharedFiles<skein::SliceFile> files) {
	SliceDescription result;
	result.types = scan.types;
	result.names = scan.names;
	result.table_columns = scan.table_columns;
	result.reader_bind = scan.reader_bind;
	result.file_options = scan.file_options;
	result.files = std::move(files);
	return result;
}

unique_ptr<MultiFileBindData> SliceDescription::MakeBindData() {
	auto result = make_uniq<MultiFileBindData>();
	result->file_list = skein::ListSliceFiles(files);
	result->columns = MultiFileColumnDefinition::ColumnsFromNamesAndTypes(names, types);
	result->reader_bind = std::move(reader_bind);
	result->file_options = std::move(file_options);
	result->types = std::move(types);
	result->names = std::move(names);
	result->table_columns = std::move(table_columns);
	return result;
}

void SliceDescription::Serialize(Serializer &object, const MultiFileBindData &slice,
								 const skein::SharedFiles<skein::SliceFile> &files) {
	object.WriteProperty(100, "types", slice.types);
	object.WriteProperty(101, "names", slice.names);
	object.WriteProperty(102, "table_columns", slice.table_columns);
	object.WriteProperty(103, "reader_bind", slice.reader_bind);
	object.WriteProperty(104, "file_options", slice.file_options);
	object.WriteObject(105, "files", [&](Serializer &list) {
		skein::WriteSliceFiles(list, files.size(), [&](idx_t i) -> const skein::SliceFile & { return files[i]; });
	});
}

SliceDescription SliceDescription::Deserialize(Deserializer &object) {
	SliceDescription result;
	result.types = object.ReadProperty<vector<LogicalType>>(100, "types");
	result.names = object.ReadProperty<vector<string>>(101, "names");
	result.table_columns = object.ReadProperty<vector<string>>(102, "table_columns");
	result.reader_bind = object.ReadProperty<MultiFileReaderBindData>(103, "reader_bind");
	result.file_options = object.ReadProperty<MultiFileOptions>(104, "file_options");
	object.ReadObject(105, "files", [&](Deserializer &list) { result.files = skein::ReadSliceFiles(list); });
	return result;
}

unique_ptr<FileHandle> OpenPart(ClientContext &context, const skein::SliceFile &part, FileOpenFlags flags) {
	unique_ptr<FileHandle> handle;
	try {
		handle = FileSystem::GetFileSystem(context).OpenFile(OpenFileInfo(part.OpenPath()), flags);
	} catch (std::exception &ex) {
		skein::ExplainFailure(context, part.OpenPath(), part.version, ErrorData(ex));
		throw;
	}
	skein::CheckVersion(part.OpenPath(), part.version, skein::VersionOf(*handle));
	return handle;
}

idx_t ThreadsFor(const skein::SharedFiles<skein::SliceFile> &files) {
	static constexpr idx_t BYTES_PER_THREAD = 2 << 20;
	static constexpr idx_t USUAL_COMPRESSION = 8;
	idx_t bytes = 0;
	for (auto &file : files) {
		auto plain = IsPlainFile(file.path, FileCompressionType::AUTO_DETECT);
		bytes += file.Bytes() * (plain ? 1 : USUAL_COMPRESSION);
	}
	return bytes / BYTES_PER_THREAD + 1;
}

bool IsPlainFile(const string &path, FileCompressionType compression) {
	if (compression != FileCompressionType::AUTO_DETECT) {
		return compression == FileCompressionType::UNCOMPRESSED;
	}
	auto lower = StringUtil::Lower(path);
	return !StringUtil::Contains(lower, ".gz") && !StringUtil::Contains(lower, ".zst");
}

SliceMultiFileReader::SliceMultiFileReader(const string &function_name_p) {
	function_name = function_name_p;
}

ReaderInitializeType SliceMultiFileReader::InitializeReader(
	MultiFileReaderData &reader_data, const MultiFileBindData &bind_data,
	const vector<MultiFileColumnDefinition> &global_columns, const vector<ColumnIndex> &global_column_ids,
	optional_ptr<TableFilterSet> table_filters, ClientContext &context, MultiFileGlobalState &global_state) {
	if (skein::ReleasedFile::Is(*reader_data.reader)) {
		return ReaderInitializeType::SKIP_READING_FILE;
	}
	reader_data.reader->file_list_idx = skein::SliceFileList::IndexOf(reader_data.file_to_be_opened);
	return MultiFileReader::InitializeReader(reader_data, bind_data, global_columns, global_column_ids, table_filters,
											 context, global_state);
}

unique_ptr<MultiFileReader> SliceMultiFileReader::Copy() const {
	return make_uniq<SliceMultiFileReader>(function_name);
}

void MakeUnbindable(TableFunction &function) {
	function.arguments.clear();
	function.named_parameters.clear();
	function.bind = RefuseToBind;
	function.cardinality = nullptr;
	function.pushdown_complex_filter = nullptr;
}

} // namespace skein_text
} // namespace duckdb

namespace skein {

void RegisterTextSlices(duckdb::DatabaseInstance &db) {
	for (auto &function : {duckdb::skein_text::CsvSliceFunction(), duckdb::skein_text::JsonSliceFunction(),
						   duckdb::skein_text::FileSliceFunction()}) {
		duckdb::TableFunctionSet functions(function.name);
		functions.AddFunction(function);
		duckdb::CreateTableFunctionInfo info(std::move(functions));
		info.on_conflict = duckdb::OnCreateConflict::IGNORE_ON_CONFLICT;
		duckdb::ExtensionLoader(db, "skein").RegisterFunction(std::move(info));
	}
}

duckdb::unique_ptr<duckdb::LogicalGet> MakeTextSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													 duckdb::vector<SliceFile> files) {
	return duckdb::skein_text::MakeSlice(context, get, std::move(files));
}

} // namespace skein
