#include "engine/slice_units.hpp"
#include "engine/text_slice_parts.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/function/table/direct_file_reader.hpp"
#include "duckdb/function/table/read_file.hpp"

namespace duckdb {
namespace skein_text {

namespace {

constexpr const char *FUNCTION_NAME = "skein_file_slice";

//! Bind data of a slice, inside of DuckDB's MultiFileBindData. A unit is a file, and so is a row.
struct FileSliceData final : public ReadFileBindData, public skein::SliceUnits {
	skein::SharedFiles<skein::SliceFile> files;

	unique_ptr<FunctionData> Copy() const override {
		return CopyOf({0, files.size()});
	}
	idx_t UnitCount() const override {
		return files.size();
	}
	unique_ptr<FunctionData> Part(const FunctionData &slice, skein::UnitRange units) const override;
	//! With some of the files.
	unique_ptr<FileSliceData> CopyOf(skein::UnitRange units) const {
		auto result = make_uniq<FileSliceData>();
		result->options = make_uniq<BaseFileReaderOptions>();
		result->files = files.Part(units.begin, units.end);
		result->leaf = leaf;
		return result;
	}
};

const FileSliceData &SliceOf(const MultiFileBindData &bind_data) {
	return static_cast<const FileSliceData &>(*bind_data.bind_data);
}

//! DuckDB's reader of a file as one row, which opens the file by one path and shows another.
class FileSliceReader final : public DirectFileReader {
public:
	FileSliceReader(const skein::SliceFile &part, const LogicalType &type)
		: DirectFileReader(OpenFileInfo(part.path), type), part_(part) {
	}
	bool TryInitializeScan(ClientContext &, GlobalTableFunctionState &, LocalTableFunctionState &) override {
		return !done_;
	}
	AsyncResult Scan(ClientContext &context, GlobalTableFunctionState &global_state,
					 LocalTableFunctionState &local_state, DataChunk &output) override {
		if (done_) {
			return AsyncResult(SourceResultType::FINISHED);
		}
		done_ = true;
		auto &state = global_state.Cast<ReadFileGlobalState>();
		// Opened twice, so that a file that has changed is noticed before its rows are.
		if (state.requires_file_open) {
			OpenPart(context, part_, FileFlags::FILE_FLAGS_READ);
		}
		// It compares its number, which is that in the whole scan, with how many files this slice has.
		auto number = file_list_idx;
		file_list_idx = 0;
		file.path = part_.OpenPath();
		auto result = ScanAs(context, global_state, local_state, output);
		file.path = part_.path;
		file_list_idx = number;
		for (idx_t i = 0; i < state.column_ids.size() && output.size() > 0; i++) {
			if (state.column_ids[i] == ReadFileBindData::FILE_NAME_COLUMN) {
				FlatVector::GetData<string_t>(output.data[i])[0] = StringVector::AddString(output.data[i], part_.path);
			}
		}
		return result;
	}

private:
	AsyncResult ScanAs(ClientContext &context, GlobalTableFunctionState &global_state,
					   LocalTableFunctionState &local_state, DataChunk &output) {
		try {
			return DirectFileReader::Scan(context, global_state, local_state, output);
		} catch (std::exception &ex) {
			ErrorData error(ex);
			throw Exception(error.ExtraInfo(), error.Type(),
							StringUtil::Replace(error.RawMessage(), part_.OpenPath(), part_.path));
		}
	}

	const skein::SliceFile &part_;
	bool done_ = false;
};

//! Makes the states and readers of a slice.
struct FileSliceInterface final : public MultiFileReaderInterface {
	static unique_ptr<MultiFileReaderInterface> CreateInterface(ClientContext &) {
		return make_uniq<FileSliceInterface>();
	}
	unique_ptr<BaseFileReaderOptions> InitializeOptions(ClientContext &, optional_ptr<TableFunctionInfo>) override {
		return make_uniq<BaseFileReaderOptions>();
	}
	bool ParseCopyOption(ClientContext &, const string &, const vector<Value> &, BaseFileReaderOptions &,
						 vector<string> &, vector<LogicalType> &) override {
		return false;
	}
	bool ParseOption(ClientContext &, const string &, const Value &, MultiFileOptions &,
					 BaseFileReaderOptions &) override {
		return false;
	}
	unique_ptr<TableFunctionData> InitializeBindData(MultiFileBindData &, unique_ptr<BaseFileReaderOptions>) override {
		throw InternalException("%s is never bound", FUNCTION_NAME);
	}
	void BindReader(ClientContext &, vector<LogicalType> &, vector<string> &, MultiFileBindData &) override {
		throw InternalException("%s is never bound", FUNCTION_NAME);
	}
	//! The readers share the memory that the content of a file is read into.
	optional_idx MaxThreads(const MultiFileBindData &, const MultiFileGlobalState &, FileExpandResult) override {
		return 1;
	}
	unique_ptr<GlobalTableFunctionState> InitializeGlobalState(ClientContext &, MultiFileBindData &bind_data,
															   MultiFileGlobalState &global_state) override {
		auto result = make_uniq<ReadFileGlobalState>();
		result->file_list = bind_data.file_list;
		for (auto &column : global_state.column_indexes) {
			auto id = column.GetPrimaryIndex();
			if (id <= ReadFileBindData::FILE_LAST_MODIFIED_COLUMN) {
				result->column_ids.push_back(id);
				result->requires_file_open |= id != ReadFileBindData::FILE_NAME_COLUMN;
			}
		}
		return result;
	}
	unique_ptr<LocalTableFunctionState> InitializeLocalState(ExecutionContext &, GlobalTableFunctionState &) override {
		return make_uniq<LocalTableFunctionState>();
	}
	shared_ptr<BaseFileReader> CreateReader(ClientContext &, GlobalTableFunctionState &, BaseUnionData &,
											const MultiFileBindData &) override {
		throw InternalException("%s opens no files before it runs", FUNCTION_NAME);
	}
	shared_ptr<BaseFileReader> CreateReader(ClientContext &, GlobalTableFunctionState &, const OpenFileInfo &file,
											idx_t, const MultiFileBindData &bind_data) override {
		auto &slice = SliceOf(bind_data);
		auto position = skein::SliceFileList::PositionOf(file);
		if (!slice.Claim(position)) {
			return make_shared_ptr<skein::ReleasedFile>(file);
		}
		slice.Begin();
		slice.NoteRead();
		return make_shared_ptr<FileSliceReader>(slice.files[position],
												bind_data.types[ReadFileBindData::FILE_CONTENT_COLUMN]);
	}
	shared_ptr<BaseFileReader> CreateReader(ClientContext &, const OpenFileInfo &, BaseFileReaderOptions &,
											const MultiFileOptions &) override {
		throw InternalException("%s opens no files before it runs", FUNCTION_NAME);
	}
	unique_ptr<NodeStatistics> GetCardinality(const MultiFileBindData &, idx_t file_count) override {
		return make_uniq<NodeStatistics>(file_count, file_count);
	}
	FileGlobInput GetGlobInput() override {
		return FileGlobOptions::ALLOW_EMPTY;
	}
	unique_ptr<MultiFileReaderInterface> Copy() override {
		return make_uniq<FileSliceInterface>();
	}
};

unique_ptr<FunctionData> MakeBindData(SliceDescription description, unique_ptr<FileSliceData> slice) {
	auto result = description.MakeBindData();
	slice->files = std::move(description.files);
	result->multi_file_reader = make_uniq<SliceMultiFileReader>(FUNCTION_NAME);
	result->interface = make_uniq<FileSliceInterface>();
	result->bind_data = std::move(slice);
	return result;
}

unique_ptr<FunctionData> FileSliceData::Part(const FunctionData &slice, skein::UnitRange units) const {
	auto part = CopyOf(units);
	auto description = SliceDescription::Of(slice.Cast<MultiFileBindData>(), part->files);
	return MakeBindData(std::move(description), std::move(part));
}

void SerializeSlice(Serializer &serializer, const optional_ptr<FunctionData> bind_data_p, const TableFunction &) {
	auto &bind_data = bind_data_p->Cast<MultiFileBindData>();
	auto &slice = SliceOf(bind_data);
	serializer.WriteObject(100, "scan",
						   [&](Serializer &object) { SliceDescription::Serialize(object, bind_data, slice.files); });
	serializer.WriteProperty(101, "leaf", slice.leaf);
}

unique_ptr<FunctionData> DeserializeSlice(Deserializer &deserializer, TableFunction &) {
	SliceDescription description;
	auto slice = make_uniq<FileSliceData>();
	slice->options = make_uniq<BaseFileReaderOptions>();
	deserializer.ReadObject(100, "scan",
							[&](Deserializer &object) { description = SliceDescription::Deserialize(object); });
	slice->leaf = deserializer.ReadProperty<optional_idx>(101, "leaf");
	return MakeBindData(std::move(description), std::move(slice));
}

} // namespace

TableFunction FileSliceFunction() {
	MultiFileFunction<FileSliceInterface> function(FUNCTION_NAME);
	MakeUnbindable(function);
	function.serialize = SerializeSlice;
	function.deserialize = DeserializeSlice;
	return static_cast<TableFunction>(function);
}

unique_ptr<FunctionData> MakeFileSlice(const MultiFileBindData &scan, vector<skein::SliceFile> files) {
	auto slice = make_uniq<FileSliceData>();
	slice->options = make_uniq<BaseFileReaderOptions>();
	return MakeBindData(SliceDescription::Of(scan, std::move(files)), std::move(slice));
}

} // namespace skein_text
} // namespace duckdb
