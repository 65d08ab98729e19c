#include "engine/line_range.hpp"
#include "engine/slice_units.hpp"
#include "engine/text_slice_parts.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/parallel/task_scheduler.hpp"

namespace duckdb {
namespace skein_text {

namespace {

//! Explicit instantiation may name a private member ([temp.spec.general]): a change of the engine ends the build.
template <class MEMBER, MEMBER Member>
struct Expose {
	friend MEMBER FileHandleOfReader() {
		return Member;
	}
};
using FileHandleMember = unique_ptr<JSONFileHandle> JSONReader::*;
FileHandleMember FileHandleOfReader();
template struct Expose<FileHandleMember, &JSONReader::file_handle>;

constexpr const char *FUNCTION_NAME = "skein_json_slice";
//! The types for which a scan keeps formats.
constexpr LogicalTypeId FORMATTED_TYPES[] = {LogicalTypeId::DATE, LogicalTypeId::TIMESTAMP};

//! Bind data of a slice, inside of DuckDB's MultiFileBindData. A unit is a file, or a range of one that is
//! newline-delimited.
struct JsonSliceData final : public JSONScanData, public skein::SliceUnits {
	skein::SharedFiles<skein::SliceFile> files;

	//! Takes over what a scan knows of its files' format and columns.
	void TakeFrom(const JSONScanData &scan) {
		options = scan.options;
		key_names = scan.key_names;
		auto &transform = scan.transform_options;
		transform_options = JSONTransformOptions(transform.strict_cast, transform.error_duplicate_key,
												 transform.error_missing_key, transform.error_unknown_key);
		transform_options.delay_error = transform.delay_error;
		SetFormats(FormatsOf(scan));
	}

	//! For each of FORMATTED_TYPES, the formats in which its values are written, if they are known.
	static vector<vector<string>> FormatsOf(const JSONScanData &scan) {
		vector<vector<string>> result;
		for (auto type : FORMATTED_TYPES) {
			vector<string> formats;
			if (scan.date_format_map && scan.date_format_map->HasFormats(type)) {
				for (auto &format : scan.date_format_map->GetFormats(type)) {
					formats.push_back(format.format_specifier);
				}
			}
			result.push_back(std::move(formats));
		}
		return result;
	}
	void SetFormats(const vector<vector<string>> &formats) {
		type_id_map_t<vector<StrpTimeFormat>> candidates;
		for (idx_t i = 0; i < formats.size(); i++) {
			for (auto &format : formats[i]) {
				DateFormatMap::AddFormat(candidates, FORMATTED_TYPES[i], format);
			}
		}
		date_format_map = make_uniq<DateFormatMap>(std::move(candidates));
		transform_options.date_format_map = date_format_map.get();
	}

	unique_ptr<FunctionData> Copy() const override {
		return CopyOf({0, files.size()});
	}
	idx_t UnitCount() const override {
		return files.size();
	}
	unique_ptr<FunctionData> Part(const FunctionData &slice, skein::UnitRange units) const override;
	//! With some of the files.
	unique_ptr<JsonSliceData> CopyOf(skein::UnitRange units) const {
		auto result = make_uniq<JsonSliceData>();
		result->TakeFrom(*this);
		result->files = files.Part(units.begin, units.end);
		result->leaf = leaf;
		return result;
	}
};

const JsonSliceData &SliceOf(const MultiFileBindData &bind_data) {
	return static_cast<const JsonSliceData &>(*bind_data.bind_data);
}

//! Makes the states and readers of a slice. Files are read by DuckDB's own JSONReader.
struct JsonSliceInterface final : public JSONMultiFileInfo {
	unique_ptr<TableFunctionData> InitializeBindData(MultiFileBindData &, unique_ptr<BaseFileReaderOptions>) override {
		throw InternalException("%s is never bound", FUNCTION_NAME);
	}
	optional_idx MaxThreads(const MultiFileBindData &bind_data, const MultiFileGlobalState &,
							FileExpandResult) override {
		auto &slice = SliceOf(bind_data);
		if (slice.files.size() != 1) {
			return ThreadsFor(slice.files);
		}
		return MaxValue<idx_t>(slice.files[0].Bytes() / slice.options.maximum_object_size, 1);
	}
	unique_ptr<GlobalTableFunctionState> InitializeGlobalState(ClientContext &context, MultiFileBindData &bind_data,
															   MultiFileGlobalState &global_state) override;
	shared_ptr<BaseFileReader> CreateReader(ClientContext &, GlobalTableFunctionState &, BaseUnionData &,
											const MultiFileBindData &) override {
		throw InternalException("%s opens no files before it runs", FUNCTION_NAME);
	}
	shared_ptr<BaseFileReader> CreateReader(ClientContext &context, GlobalTableFunctionState &global_state,
											const OpenFileInfo &file, idx_t file_idx,
											const MultiFileBindData &bind_data) override;
	unique_ptr<MultiFileReaderInterface> Copy() override {
		return make_uniq<JsonSliceInterface>();
	}
};

//! Ranges are read buffer by buffer, as DuckDB reads a single file: its buffers then begin where they begin in the
//! file.
unique_ptr<GlobalTableFunctionState> JsonSliceInterface::InitializeGlobalState(ClientContext &context,
																			   MultiFileBindData &bind_data,
																			   MultiFileGlobalState &global_state) {
	auto result = JSONMultiFileInfo::InitializeGlobalState(context, bind_data, global_state);
	auto &files = SliceOf(bind_data).files;
	auto divided = [](const skein::SliceFile &file) { return !file.range.IsWholeFile(); };
	if (TaskScheduler::GetScheduler(context).NumberOfThreads() > 1 &&
		std::any_of(files.begin(), files.end(), divided)) {
		result->Cast<JSONGlobalTableFunctionState>().state.enable_parallel_scans = true;
	}
	return result;
}

//! A reader of a range of a newline-delimited file.
shared_ptr<JSONReader> OpenRange(ClientContext &context, const JSONReaderOptions &options,
								 const skein::SliceFile &part) {
	// A longer line does not end within the buffers that may hold it.
	static constexpr idx_t BUFFERS_OF_A_LINE = 3;
	auto of_range = options;
	of_range.format = JSONFormat::NEWLINE_DELIMITED;
	auto reader = make_shared_ptr<JSONReader>(context, std::move(of_range), OpenFileInfo(part.OpenPath()));
	FileOpenFlags flags = FileFlags::FILE_FLAGS_READ | FileFlags::FILE_FLAGS_PARALLEL_ACCESS;
	flags.SetCachingMode(CachingMode::CACHE_REMOTE_ONLY);
	auto lines = skein::OpenLineRange(OpenPart(context, part, flags), part.range,
									  options.maximum_object_size * BUFFERS_OF_A_LINE, skein::BeforeLines::SPACES);
	(*reader).*FileHandleOfReader() =
		make_uniq<JSONFileHandle>(QueryContext(context), std::move(lines), BufferAllocator::Get(context));
	return reader;
}

shared_ptr<JSONReader> OpenWhole(ClientContext &context, const JSONReaderOptions &options,
								 const skein::SliceFile &part) {
	auto reader = make_shared_ptr<JSONReader>(context, options, OpenFileInfo(part.OpenPath()));
	try {
		reader->OpenJSONFile();
	} catch (std::exception &ex) {
		skein::ExplainFailure(context, part.OpenPath(), part.version, ErrorData(ex));
		throw;
	}
	skein::CheckVersion(part.OpenPath(), part.version, skein::VersionOf(reader->GetFileHandle().GetHandle()));
	return reader;
}

shared_ptr<BaseFileReader> JsonSliceInterface::CreateReader(ClientContext &context, GlobalTableFunctionState &,
															const OpenFileInfo &file, idx_t,
															const MultiFileBindData &bind_data) {
	auto &slice = SliceOf(bind_data);
	auto position = skein::SliceFileList::PositionOf(file);
	if (!slice.Claim(position)) {
		return make_shared_ptr<skein::ReleasedFile>(file);
	}
	slice.Begin();
	slice.NoteRead();
	auto &part = slice.files[position];
	auto reader =
		part.range.IsWholeFile() ? OpenWhole(context, slice.options, part) : OpenRange(context, slice.options, part);
	// The path that the query and its errors show is the one of the whole scan.
	reader->file.path = part.path;
	reader->columns = MultiFileColumnDefinition::ColumnsFromNamesAndTypes(bind_data.names, bind_data.types);
	return reader;
}

void WriteOptions(Serializer &object, const JSONReaderOptions &options) {
	object.WriteProperty(100, "type", static_cast<uint8_t>(options.type));
	object.WriteProperty(101, "format", static_cast<uint8_t>(options.format));
	object.WriteProperty(102, "record_type", static_cast<uint8_t>(options.record_type));
	object.WriteProperty(103, "compression", options.compression);
	object.WriteProperty(104, "ignore_errors", options.ignore_errors);
	object.WriteProperty(105, "maximum_object_size", options.maximum_object_size);
	object.WriteProperty(106, "auto_detect", options.auto_detect);
}

//! What is left at its default only says how columns are found out.
JSONReaderOptions ReadOptions(Deserializer &object) {
	JSONReaderOptions options;
	options.type = static_cast<JSONScanType>(object.ReadProperty<uint8_t>(100, "type"));
	options.format = static_cast<JSONFormat>(object.ReadProperty<uint8_t>(101, "format"));
	options.record_type = static_cast<JSONRecordType>(object.ReadProperty<uint8_t>(102, "record_type"));
	options.compression = object.ReadProperty<FileCompressionType>(103, "compression");
	options.ignore_errors = object.ReadProperty<bool>(104, "ignore_errors");
	options.maximum_object_size = object.ReadProperty<idx_t>(105, "maximum_object_size");
	options.auto_detect = object.ReadProperty<bool>(106, "auto_detect");
	return options;
}

unique_ptr<FunctionData> MakeBindData(SliceDescription description, unique_ptr<JsonSliceData> slice) {
	auto result = description.MakeBindData();
	slice->files = std::move(description.files);
	result->multi_file_reader = make_uniq<SliceMultiFileReader>(FUNCTION_NAME);
	result->interface = make_uniq<JsonSliceInterface>();
	result->bind_data = std::move(slice);
	return result;
}

unique_ptr<FunctionData> JsonSliceData::Part(const FunctionData &slice, skein::UnitRange units) const {
	auto part = CopyOf(units);
	auto description = SliceDescription::Of(slice.Cast<MultiFileBindData>(), part->files);
	return MakeBindData(std::move(description), std::move(part));
}

void SerializeSlice(Serializer &serializer, const optional_ptr<FunctionData> bind_data_p, const TableFunction &) {
	auto &bind_data = bind_data_p->Cast<MultiFileBindData>();
	auto &slice = SliceOf(bind_data);
	serializer.WriteObject(100, "scan",
						   [&](Serializer &object) { SliceDescription::Serialize(object, bind_data, slice.files); });
	serializer.WriteObject(101, "json_options", [&](Serializer &object) { WriteOptions(object, slice.options); });
	serializer.WriteProperty(102, "key_names", slice.key_names);
	auto formats = JsonSliceData::FormatsOf(slice);
	serializer.WriteProperty(103, "date_formats", formats[0]);
	serializer.WriteProperty(104, "timestamp_formats", formats[1]);
	auto &transform = slice.transform_options;
	serializer.WriteProperty(105, "strict_cast", transform.strict_cast);
	serializer.WriteProperty(106, "error_duplicate_key", transform.error_duplicate_key);
	serializer.WriteProperty(107, "error_missing_key", transform.error_missing_key);
	serializer.WriteProperty(108, "error_unknown_key", transform.error_unknown_key);
	serializer.WriteProperty(109, "delay_error", transform.delay_error);
	serializer.WriteProperty(110, "leaf", slice.leaf);
}

unique_ptr<FunctionData> DeserializeSlice(Deserializer &deserializer, TableFunction &) {
	SliceDescription description;
	auto slice = make_uniq<JsonSliceData>();
	deserializer.ReadObject(100, "scan",
							[&](Deserializer &object) { description = SliceDescription::Deserialize(object); });
	deserializer.ReadObject(101, "json_options", [&](Deserializer &object) { slice->options = ReadOptions(object); });
	slice->key_names = deserializer.ReadProperty<vector<string>>(102, "key_names");
	auto dates = deserializer.ReadProperty<vector<string>>(103, "date_formats");
	auto timestamps = deserializer.ReadProperty<vector<string>>(104, "timestamp_formats");
	slice->SetFormats({dates, timestamps});
	auto &transform = slice->transform_options;
	transform.strict_cast = deserializer.ReadProperty<bool>(105, "strict_cast");
	transform.error_duplicate_key = deserializer.ReadProperty<bool>(106, "error_duplicate_key");
	transform.error_missing_key = deserializer.ReadProperty<bool>(107, "error_missing_key");
	transform.error_unknown_key = deserializer.ReadProperty<bool>(108, "error_unknown_key");
	transform.delay_error = deserializer.ReadProperty<bool>(109, "delay_error");
	slice->leaf = deserializer.ReadProperty<optional_idx>(110, "leaf");
	return MakeBindData(std::move(description), std::move(slice));
}

} // namespace

TableFunction JsonSliceFunction() {
	MultiFileFunction<JsonSliceInterface> function(FUNCTION_NAME);
	MakeUnbindable(function);
	function.serialize = SerializeSlice;
	function.deserialize = DeserializeSlice;
	return static_cast<TableFunction>(function);
}

unique_ptr<FunctionData> MakeJsonSlice(const MultiFileBindData &scan, vector<skein::SliceFile> files) {
	auto slice = make_uniq<JsonSliceData>();
	slice->TakeFrom(static_cast<const JSONScanData &>(*scan.bind_data));
	// Buffers have room for two of the largest objects. None is larger than its file, which is read at once then.
	static constexpr idx_t SLACK = 1 << 16;
	idx_t largest = 0;
	for (auto &file : files) {
		auto plain = IsPlainFile(file.path, slice->options.compression);
		largest = MaxValue(largest, plain ? file.version.size + SLACK : slice->options.maximum_object_size);
	}
	slice->options.maximum_object_size = MinValue(slice->options.maximum_object_size, MaxValue(largest, SLACK));
	return MakeBindData(SliceDescription::Of(scan, std::move(files)), std::move(slice));
}

} // namespace skein_text
} // namespace duckdb
