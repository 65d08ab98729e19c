#include "engine/metadata_slice.hpp"

#include "engine/inspect_files.hpp"
#include "engine/remote_files.hpp"
#include "engine/slice_scan.hpp"
#include "engine/slice_units.hpp"
#include "engine/text_slice_parts.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/parsed_data/create_table_function_info.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *FUNCTION_NAME = "skein_metadata_slice";

//! DuckDB's functions that say what is in the footers of Parquet files. The name of the file is in the first column,
//! or, of `full`, in the first field of the structs that each column lists.
struct MetadataFunction {
	const char *name;
	bool full;
};
constexpr MetadataFunction FUNCTIONS[] = {{"parquet_metadata", false},	  {"parquet_schema", false},
										  {"parquet_kv_metadata", false}, {"parquet_file_metadata", false},
										  {"parquet_bloom_probe", false}, {"parquet_full_metadata", true}};

const MetadataFunction *FindFunction(const string &name) {
	auto found = std::find_if(std::begin(FUNCTIONS), std::end(FUNCTIONS), [&](auto &it) { return name == it.name; });
	return found == std::end(FUNCTIONS) ? nullptr : found;
}

//! A unit is a file.
struct MetadataSliceData final : public TableFunctionData, public SliceUnits {
	idx_t UnitCount() const override {
		return files.size();
	}
	unique_ptr<FunctionData> Part(const FunctionData &, UnitRange units) const override {
		auto result = make_uniq<MetadataSliceData>();
		result->name = name;
		result->arguments = arguments;
		result->files = files.Part(units.begin, units.end);
		result->leaf = leaf;
		return result;
	}
	unique_ptr<FunctionData> Copy() const override {
		return Part(*this, {0, files.size()});
	}
	bool Equals(const FunctionData &other) const override {
		return this == &other;
	}

	//! Of DuckDB's function.
	string name;
	//! Those behind the files.
	vector<Value> arguments;
	SharedFiles<SliceFile> files;
};

struct MetadataGlobalState final : public GlobalTableFunctionState {
	explicit MetadataGlobalState(const MetadataSliceData &data_p) : data(data_p) {
	}
	idx_t MaxThreads() const override {
		return MaxValue<idx_t>(data.UnitCount(), 1);
	}
	//! The next unit that the caller reads; invalid if there is none.
	optional_idx Next() {
		while (true) {
			auto position = next_++;
			if (position >= data.UnitCount()) {
				return optional_idx();
			}
			if (data.Claim(position)) {
				data.Begin();
				data.NoteRead();
				return optional_idx(position);
			}
		}
	}
	double Progress() const {
		return 100.0 * static_cast<double>(MinValue<idx_t>(next_, data.UnitCount())) /
			   static_cast<double>(MaxThreads());
	}

	const MetadataSliceData &data;

private:
	atomic<idx_t> next_{0};
};

//! A path as a pattern that only this path matches.
string AsPattern(const string &path) {
	string result;
	for (auto character : path) {
		auto special = character == '[' || character == '*' || character == '?';
		result += special ? string("[") + character + "]" : string(1, character);
	}
	return result;
}

//! A call of DuckDB's function for one file.
class FileCall {
public:
	FileCall(ExecutionContext &context, const MetadataSliceData &data, const SliceFile &part)
		: full_(FindFunction(data.name)->full), part_(part) {
		skein_text::OpenPart(context.client, part, FileFlags::FILE_FLAGS_READ);
		auto &entry = Catalog::GetSystemCatalog(context.client)
						  .GetEntry<TableFunctionCatalogEntry>(context.client, DEFAULT_SCHEMA, data.name);
		vector<Value> inputs{Value(AsPattern(part.OpenPath()))};
		inputs.insert(inputs.end(), data.arguments.begin(), data.arguments.end());
		vector<LogicalType> types;
		for (auto &input : inputs) {
			types.push_back(input.type());
		}
		function_ = entry.functions.GetFunctionByArguments(context.client, types);
		named_parameter_map_t named;
		vector<LogicalType> table_types;
		vector<string> table_names;
		TableFunctionRef ref;
		TableFunctionBindInput input(inputs, named, table_types, table_names, function_.function_info.get(), nullptr,
									 function_, ref);
		vector<LogicalType> result_types;
		vector<string> result_names;
		AsPlanned([&] {
			bind_data_ = function_.bind(context.client, input, result_types, result_names);
			for (idx_t i = 0; i < result_types.size(); i++) {
				columns_.push_back(i);
			}
			TableFunctionInitInput init(bind_data_.get(), columns_, vector<idx_t>(), nullptr);
			global_ = function_.init_global(context.client, init);
			local_ = function_.init_local(context, init, global_.get());
		});
	}

	//! The next rows, none at the end.
	void Read(ClientContext &context, DataChunk &output) {
		TableFunctionInput input(bind_data_.get(), local_.get(), global_.get());
		AsPlanned([&] { function_.function(context, input, output); });
		if (part_.absolute_path.empty() || output.size() == 0) {
			return;
		}
		if (!full_) {
			output.data[0].Reference(Value(part_.path));
			return;
		}
		for (auto &column : output.data) {
			auto &names = *StructVector::GetEntries(ListVector::GetEntry(column))[0];
			for (idx_t row = 0; row < ListVector::GetListSize(column); row++) {
				names.SetValue(row, Value(part_.path));
			}
		}
	}

private:
	//! Its errors name the file as the query does.
	template <class CALL>
	void AsPlanned(CALL call) {
		try {
			call();
		} catch (std::exception &ex) {
			ErrorData error(ex);
			throw Exception(error.ExtraInfo(), error.Type(),
							StringUtil::Replace(error.RawMessage(), part_.OpenPath(), part_.path));
		}
	}

	const bool full_;
	const SliceFile &part_;
	TableFunction function_;
	vector<column_t> columns_;
	unique_ptr<FunctionData> bind_data_;
	unique_ptr<GlobalTableFunctionState> global_;
	unique_ptr<LocalTableFunctionState> local_;
};

struct MetadataLocalState final : public LocalTableFunctionState {
	explicit MetadataLocalState(ExecutionContext &context_p) : context(context_p.client, context_p.thread, nullptr) {
	}

	ExecutionContext context;
	std::unique_ptr<FileCall> call;
	idx_t batch = 0;
};

unique_ptr<GlobalTableFunctionState> InitGlobal(ClientContext &, TableFunctionInitInput &input) {
	return make_uniq<MetadataGlobalState>(input.bind_data->Cast<MetadataSliceData>());
}

unique_ptr<LocalTableFunctionState> InitLocal(ExecutionContext &context, TableFunctionInitInput &,
											  GlobalTableFunctionState *) {
	return make_uniq<MetadataLocalState>(context);
}

void Scan(ClientContext &context, TableFunctionInput &input, DataChunk &output) {
	auto &global = input.global_state->Cast<MetadataGlobalState>();
	auto &local = input.local_state->Cast<MetadataLocalState>();
	while (true) {
		if (local.call) {
			local.call->Read(context, output);
			if (output.size() > 0) {
				return;
			}
			local.call.reset();
		}
		if (context.IsInterrupted()) {
			throw InterruptException();
		}
		auto unit = global.Next();
		if (!unit.IsValid()) {
			return;
		}
		local.batch = unit.GetIndex() + 1;
		local.call = std::make_unique<FileCall>(local.context, global.data, global.data.files[unit.GetIndex()]);
	}
}

OperatorPartitionData PartitionData(ClientContext &, TableFunctionGetPartitionInput &input) {
	return OperatorPartitionData(input.local_state->Cast<MetadataLocalState>().batch);
}

double Progress(ClientContext &, const FunctionData *, const GlobalTableFunctionState *global) {
	return global->Cast<MetadataGlobalState>().Progress();
}

InsertionOrderPreservingMap<string> ToString(TableFunctionToStringInput &input) {
	InsertionOrderPreservingMap<string> result;
	result["Function"] = StringUtil::Upper(input.bind_data->Cast<MetadataSliceData>().name);
	return result;
}

virtual_column_map_t VirtualColumns(ClientContext &, optional_ptr<FunctionData>) {
	return {};
}

void Serialize(Serializer &serializer, const optional_ptr<FunctionData> bind_data, const TableFunction &) {
	auto &data = bind_data->Cast<MetadataSliceData>();
	serializer.WriteProperty(100, "name", data.name);
	serializer.WriteProperty(101, "arguments", data.arguments);
	serializer.WriteObject(102, "files", [&](Serializer &object) {
		WriteSliceFiles(object, data.files.size(), [&](idx_t i) -> const SliceFile & { return data.files[i]; });
	});
	serializer.WriteProperty(103, "leaf", data.leaf);
}

unique_ptr<FunctionData> Deserialize(Deserializer &deserializer, TableFunction &) {
	auto result = make_uniq<MetadataSliceData>();
	result->name = deserializer.ReadProperty<string>(100, "name");
	result->arguments = deserializer.ReadProperty<vector<Value>>(101, "arguments");
	deserializer.ReadObject(102, "files", [&](Deserializer &object) { result->files = ReadSliceFiles(object); });
	result->leaf = deserializer.ReadProperty<optional_idx>(103, "leaf");
	if (!FindFunction(result->name)) {
		throw SerializationException("%s calls no function \"%s\"", FUNCTION_NAME, result->name);
	}
	return result;
}

unique_ptr<FunctionData> RefuseToBind(ClientContext &, TableFunctionBindInput &, vector<LogicalType> &,
									  vector<string> &) {
	throw BinderException("%s is only used inside of distributed plans", FUNCTION_NAME);
}

TableFunction SliceFunction() {
	TableFunction function(FUNCTION_NAME, {}, Scan, RefuseToBind, InitGlobal, InitLocal);
	function.to_string = ToString;
	function.table_scan_progress = Progress;
	function.get_partition_data = PartitionData;
	function.serialize = Serialize;
	function.deserialize = Deserialize;
	function.get_virtual_columns = VirtualColumns;
	return function;
}

//! Fills in what the file is. Returns why it cannot be read by a task.
string Inspect(ClientContext &context, const OpenFileInfo &file, ScanFile &result) {
	auto reason = ReasonAgainstFile(file);
	if (!reason.empty()) {
		return reason;
	}
	if (!ExtensionFor(file.path).empty()) {
		return "file \"" + file.path + "\" is on another machine";
	}
	result.path = file.path;
	result.absolute_path = AbsolutePath(context, file.path);
	if (auto listed = ListedVersion(file)) {
		result.version = std::move(*listed);
		result.version.tag.clear();
		return {};
	}
	auto handle = FileSystem::GetFileSystem(context).OpenFile(result.OpenPath(), FileFlags::FILE_FLAGS_READ);
	if (handle->GetType() != FileType::FILE_TYPE_REGULAR) {
		return "file \"" + file.path + "\" is no regular file";
	}
	result.version = VersionOf(*handle);
	return {};
}

} // namespace

std::optional<vector<ScanFile>> InspectMetadataScan(ClientContext &context, LogicalGet &get, string &reason) {
	auto &name = get.function.name;
	if (!FindFunction(name) || get.parameters.empty()) {
		return std::nullopt;
	}
	if (get.ordinality_idx.IsValid() || !get.children.empty() || !get.table_filters.filters.empty()) {
		reason = name + " is called in a way that only the session can";
		return std::nullopt;
	}
	// What it was bound to is private to DuckDB.
	auto reader = MultiFileReader::CreateDefault(name);
	auto files =
		reader->CreateFileList(context, get.parameters[0], FileGlobInput(FileGlobOptions::FALLBACK_GLOB, "parquet"))
			->GetAllFiles();
	static constexpr idx_t FILES_PER_TASK = 256;
	vector<ScanFile> result(files.size());
	reason =
		InspectFiles(context, files, FILES_PER_TASK, [&](idx_t i) { return Inspect(context, files[i], result[i]); });
	if (!reason.empty()) {
		return std::nullopt;
	}
	return result;
}

unique_ptr<LogicalGet> MakeMetadataSlice(ClientContext &context, const LogicalGet &get, vector<SliceFile> files) {
	auto data = make_uniq<MetadataSliceData>();
	data->name = get.function.name;
	data->arguments.assign(get.parameters.begin() + 1, get.parameters.end());
	data->files = SharedFiles<SliceFile>(std::move(files));
	return MakeSliceScan(context, get, SliceFunction(), std::move(data));
}

void RegisterMetadataSlice(DatabaseInstance &db) {
	TableFunctionSet functions(FUNCTION_NAME);
	functions.AddFunction(SliceFunction());
	CreateTableFunctionInfo info(std::move(functions));
	info.on_conflict = OnCreateConflict::IGNORE_ON_CONFLICT;
	ExtensionLoader(db, "skein").RegisterFunction(std::move(info));
}

} // namespace skein
