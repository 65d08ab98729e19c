#include "engine/line_range.hpp"
#include "engine/slice_units.hpp"
#include "engine/text_slice_parts.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/execution/operator/csv_scanner/csv_file_scanner.hpp"
#include "duckdb/execution/operator/csv_scanner/global_csv_state.hpp"
#include "duckdb/parallel/task_scheduler.hpp"

namespace duckdb {
namespace skein_text {

namespace {

constexpr const char *FUNCTION_NAME = "skein_csv_slice";

//! What the binder found out about one file, where the columns of the scan are those of all files by their names.
struct CsvFileSchema {
	vector<string> names;
	vector<LogicalType> types;
	CSVReaderOptions options;
};

//! Bind data of a slice, inside of DuckDB's MultiFileBindData. A unit is a file, or a range of one whose
//! every line is a row.
struct CsvSliceData final : public ReadCSVData, public skein::SliceUnits {
	skein::SharedFiles<skein::SliceFile> files;
	//! One per file with `union_by_name`, else none.
	vector<CsvFileSchema> file_schemas;

	unique_ptr<FunctionData> Copy() const override {
		return CopyOf({0, files.size()});
	}
	idx_t UnitCount() const override {
		return files.size();
	}
	unique_ptr<FunctionData> Part(const FunctionData &slice, skein::UnitRange units) const override;
	//! With some of the files.
	unique_ptr<CsvSliceData> CopyOf(skein::UnitRange units) const {
		auto result = make_uniq<CsvSliceData>();
		result->options = options;
		result->csv_schema = csv_schema;
		result->files = files.Part(units.begin, units.end);
		if (!file_schemas.empty()) {
			auto first = file_schemas.begin();
			result->file_schemas.assign(first + static_cast<std::ptrdiff_t>(units.begin),
										first + static_cast<std::ptrdiff_t>(units.end));
		}
		result->leaf = leaf;
		return result;
	}
};

const CsvSliceData &SliceOf(const MultiFileBindData &bind_data) {
	return static_cast<const CsvSliceData &>(*bind_data.bind_data);
}

//! Makes the states and readers of a slice. Files are read by DuckDB's own CSVFileScan.
struct CsvSliceInterface final : public CSVMultiFileInfo {
	unique_ptr<TableFunctionData> InitializeBindData(MultiFileBindData &, unique_ptr<BaseFileReaderOptions>) override {
		throw InternalException("%s is never bound", FUNCTION_NAME);
	}
	optional_idx MaxThreads(const MultiFileBindData &bind_data, const MultiFileGlobalState &,
							FileExpandResult) override {
		auto &slice = SliceOf(bind_data);
		if (slice.files.size() != 1) {
			return ThreadsFor(slice.files);
		}
		return slice.files[0].Bytes() / CSVIterator::BytesPerThread(slice.options) + 1;
	}
	unique_ptr<GlobalTableFunctionState> InitializeGlobalState(ClientContext &context, MultiFileBindData &bind_data,
															   MultiFileGlobalState &) override {
		// Told of one file, it reads with several threads if and only if `parallel` says so.
		return make_uniq<CSVGlobalState>(context, SliceOf(bind_data).options, 1, bind_data);
	}
	shared_ptr<BaseFileReader> CreateReader(ClientContext &, GlobalTableFunctionState &, BaseUnionData &,
											const MultiFileBindData &) override {
		throw InternalException("%s opens no files before it runs", FUNCTION_NAME);
	}
	shared_ptr<BaseFileReader> CreateReader(ClientContext &context, GlobalTableFunctionState &global_state,
											const OpenFileInfo &file, idx_t,
											const MultiFileBindData &bind_data) override;
	unique_ptr<MultiFileReaderInterface> Copy() override {
		return make_uniq<CsvSliceInterface>();
	}
};

//! A file smaller than a buffer is read into one of its own size. How it is divided among threads hangs on the options
//! of the scan, which stay.
CSVReaderOptions BufferOptions(const CSVReaderOptions &options, const skein::SliceFile &file, idx_t bytes) {
	auto result = options;
	auto size = MaxValue<idx_t>(bytes + 1, 4096);
	if (IsPlainFile(file.path, options.compression) && options.encoding == "utf-8" &&
		size < options.buffer_size_option.GetValue()) {
		result.buffer_size_option = CSVOption<idx_t>(size, options.buffer_size_option.IsSetByUser());
	}
	return result;
}

shared_ptr<BaseFileReader> CsvSliceInterface::CreateReader(ClientContext &context,
														   GlobalTableFunctionState &global_state,
														   const OpenFileInfo &file, idx_t,
														   const MultiFileBindData &bind_data) {
	auto &slice = static_cast<CsvSliceData &>(*bind_data.bind_data);
	auto position = skein::SliceFileList::PositionOf(file);
	if (!slice.Claim(position)) {
		return make_shared_ptr<skein::ReleasedFile>(file);
	}
	slice.Begin();
	slice.NoteRead();
	auto schema = slice.file_schemas.empty() ? nullptr : &slice.file_schemas[position];
	auto options = schema ? schema->options : slice.options;
	auto one_thread = global_state.Cast<CSVGlobalState>().SingleThreadedRead();

	// The path that the query and its errors show is the one of the whole scan.
	auto &part = slice.files[position];
	OpenFileInfo shown(part.path);
	auto handle = OpenPart(context, part, FileFlags::FILE_FLAGS_READ | options.compression);
	if (!part.range.IsWholeFile()) {
		// A line does not end within the buffers that may hold it if it is longer.
		auto longest = options.buffer_size_option.GetValue() * 3;
		handle = skein::OpenLineRange(std::move(handle), part.range, longest, skein::BeforeLines::NOTHING);
		options = OptionsOfRange(std::move(options), part.range);
	}
	if (handle->CanSeek()) {
		handle->Reset();
	}
	auto buffer_options = BufferOptions(options, part, handle->GetFileSize());
	auto csv_handle = make_uniq<CSVFileHandle>(context, std::move(handle), shown, options);
	auto buffers = make_shared_ptr<CSVBufferManager>(context, buffer_options, shown, one_thread, std::move(csv_handle));
	return make_shared_ptr<CSVFileScan>(
		context, shown, std::move(options), bind_data.file_options, schema ? schema->names : bind_data.names,
		schema ? schema->types : bind_data.types, slice.csv_schema, one_thread, std::move(buffers), false);
}

//! DuckDB's serialisation of the options leaves out some of them.
void WriteOptions(Serializer &object, const CSVReaderOptions &options, const MultiFileOptions &file_options) {
	object.WriteProperty(100, "options", SerializedCSVReaderOptions(options, file_options));
	object.WriteProperty(101, "user_ignores_errors", options.ignore_errors.IsSetByUser());
	object.WriteProperty(102, "auto_type_candidates", options.auto_type_candidates);
	object.WriteProperty(103, "thousands_separator", static_cast<uint8_t>(options.thousands_separator));
	object.WriteProperty(104, "comment", static_cast<uint8_t>(options.comment));
	object.WriteProperty(105, "files_to_sniff", options.files_to_sniff);
	vector<string> user_defined;
	for (auto &parameter : options.user_defined_parameters) {
		user_defined.push_back(parameter.first);
		user_defined.push_back(parameter.second);
	}
	object.WriteProperty(106, "user_defined_parameters", user_defined);
	// Whether the user has said that there is no delimiter or no comment.
	auto &dialect = options.dialect_options.state_machine_options;
	object.WriteProperty(107, "delimiter", dialect.delimiter.GetValue());
	object.WriteProperty(108, "user_delimiter", dialect.delimiter.IsSetByUser());
	object.WriteProperty(109, "user_comment", dialect.comment.IsSetByUser());
}

CSVReaderOptions ReadOptions(Deserializer &object) {
	auto options = object.ReadProperty<SerializedCSVReaderOptions>(100, "options").options;
	auto user_ignores_errors = object.ReadProperty<bool>(101, "user_ignores_errors");
	options.ignore_errors = CSVOption<bool>(options.ignore_errors.GetValue(), user_ignores_errors);
	options.auto_type_candidates = object.ReadProperty<vector<LogicalType>>(102, "auto_type_candidates");
	options.thousands_separator = static_cast<char>(object.ReadProperty<uint8_t>(103, "thousands_separator"));
	options.comment = static_cast<char>(object.ReadProperty<uint8_t>(104, "comment"));
	options.files_to_sniff = object.ReadProperty<int64_t>(105, "files_to_sniff");
	auto user_defined = object.ReadProperty<vector<string>>(106, "user_defined_parameters");
	for (idx_t i = 0; i + 1 < user_defined.size(); i += 2) {
		options.user_defined_parameters[user_defined[i]] = user_defined[i + 1];
	}
	auto &dialect = options.dialect_options.state_machine_options;
	auto delimiter = object.ReadProperty<string>(107, "delimiter");
	dialect.delimiter = CSVOption<string>(delimiter, object.ReadProperty<bool>(108, "user_delimiter"));
	dialect.comment = CSVOption<char>(dialect.comment.GetValue(), object.ReadProperty<bool>(109, "user_comment"));
	return options;
}

void WriteSchema(Serializer &object, const CSVSchema &schema) {
	object.WriteProperty(100, "names", schema.GetNames());
	object.WriteProperty(101, "types", schema.GetTypes());
	object.WriteProperty(102, "path", schema.GetPath());
	object.WriteProperty(103, "rows_read", schema.GetRowsRead());
}

CSVSchema ReadSchema(Deserializer &object) {
	auto names = object.ReadProperty<vector<string>>(100, "names");
	auto types = object.ReadProperty<vector<LogicalType>>(101, "types");
	auto path = object.ReadProperty<string>(102, "path");
	auto rows_read = object.ReadProperty<idx_t>(103, "rows_read");
	return names.empty() ? CSVSchema() : CSVSchema(names, types, path, rows_read);
}

unique_ptr<FunctionData> MakeBindData(SliceDescription description, unique_ptr<CsvSliceData> slice) {
	auto result = description.MakeBindData();
	slice->files = std::move(description.files);
	result->multi_file_reader = make_uniq<SliceMultiFileReader>(FUNCTION_NAME);
	result->interface = make_uniq<CsvSliceInterface>();
	result->bind_data = std::move(slice);
	return result;
}

unique_ptr<FunctionData> CsvSliceData::Part(const FunctionData &slice, skein::UnitRange units) const {
	auto part = CopyOf(units);
	auto description = SliceDescription::Of(slice.Cast<MultiFileBindData>(), part->files);
	return MakeBindData(std::move(description), std::move(part));
}

void SerializeSlice(Serializer &serializer, const optional_ptr<FunctionData> bind_data_p, const TableFunction &) {
	auto &bind_data = bind_data_p->Cast<MultiFileBindData>();
	auto &slice = SliceOf(bind_data);
	serializer.WriteObject(100, "scan",
						   [&](Serializer &object) { SliceDescription::Serialize(object, bind_data, slice.files); });
	serializer.WriteObject(101, "csv_options",
						   [&](Serializer &object) { WriteOptions(object, slice.options, bind_data.file_options); });
	serializer.WriteObject(102, "csv_schema", [&](Serializer &object) { WriteSchema(object, slice.csv_schema); });
	serializer.WriteList(103, "file_schemas", slice.file_schemas.size(), [&](Serializer::List &list, idx_t index) {
		auto &schema = slice.file_schemas[index];
		list.WriteObject([&](Serializer &object) {
			object.WriteProperty(100, "names", schema.names);
			object.WriteProperty(101, "types", schema.types);
			object.WriteObject(102, "options", [&](Serializer &options) {
				WriteOptions(options, schema.options, bind_data.file_options);
			});
		});
	});
	serializer.WriteProperty(104, "leaf", slice.leaf);
}

unique_ptr<FunctionData> DeserializeSlice(Deserializer &deserializer, TableFunction &) {
	SliceDescription description;
	auto slice = make_uniq<CsvSliceData>();
	deserializer.ReadObject(100, "scan",
							[&](Deserializer &object) { description = SliceDescription::Deserialize(object); });
	deserializer.ReadObject(101, "csv_options", [&](Deserializer &object) { slice->options = ReadOptions(object); });
	deserializer.ReadObject(102, "csv_schema", [&](Deserializer &object) { slice->csv_schema = ReadSchema(object); });
	deserializer.ReadList(103, "file_schemas", [&](Deserializer::List &list, idx_t) {
		list.ReadObject([&](Deserializer &object) {
			CsvFileSchema schema;
			schema.names = object.ReadProperty<vector<string>>(100, "names");
			schema.types = object.ReadProperty<vector<LogicalType>>(101, "types");
			object.ReadObject(102, "options", [&](Deserializer &options) { schema.options = ReadOptions(options); });
			slice->file_schemas.push_back(std::move(schema));
		});
	});
	slice->leaf = deserializer.ReadProperty<optional_idx>(104, "leaf");
	return MakeBindData(std::move(description), std::move(slice));
}

} // namespace

TableFunction CsvSliceFunction() {
	MultiFileFunction<CsvSliceInterface> function(FUNCTION_NAME);
	MakeUnbindable(function);
	function.serialize = SerializeSlice;
	function.deserialize = DeserializeSlice;
	return static_cast<TableFunction>(function);
}

unique_ptr<FunctionData> MakeCsvSlice(ClientContext &context, const MultiFileBindData &scan,
									  vector<skein::SliceFile> files) {
	auto &csv = scan.bind_data->Cast<ReadCSVData>();
	auto slice = make_uniq<CsvSliceData>();
	slice->options = csv.options;
	slice->csv_schema = csv.csv_schema;
	// These hang on the number of files of the whole scan, not on that of the slice. How many threads read one file
	// decides which files DuckDB can read at all.
	if (scan.file_list->GetExpandResult() == FileExpandResult::SINGLE_FILE) {
		slice->options.auto_detect = false;
	}
	auto file_count = scan.file_list->GetTotalFileCount();
	auto threads = NumericCast<idx_t>(TaskScheduler::GetScheduler(context).NumberOfThreads());
	slice->options.parallel = slice->options.parallel && (file_count <= 1 || file_count <= threads * 2);
	// Each range by one thread, which looks for no row to begin with.
	for (auto &file : files) {
		slice->options.parallel = slice->options.parallel && file.range.IsWholeFile();
	}
	if (scan.file_options.union_by_name) {
		for (auto &file : files) {
			auto &schema = static_cast<const CSVUnionData &>(*scan.union_readers[file.file_index]);
			slice->file_schemas.push_back({schema.names, schema.types, schema.options});
			slice->file_schemas.back().options.auto_detect = false;
		}
	}
	return MakeBindData(SliceDescription::Of(scan, std::move(files)), std::move(slice));
}

} // namespace skein_text
} // namespace duckdb
