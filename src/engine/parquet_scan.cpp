#include "engine/parquet_scan.hpp"

#include "engine/parquet_footer.hpp"
#include "engine/parquet_pruning.hpp"

#include "duckdb/common/file_system.hpp"
#include "duckdb/parallel/task_executor.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <typeinfo>

namespace duckdb {
namespace skein_parquet {

namespace {

//! Why the scan cannot be represented by slices, whatever its files hold; empty if it can.
string ReasonAgainst(ClientContext &context, const LogicalGet &get, const MultiFileBindData &bind_data) {
	if (get.function.get_multi_file_reader || !get.function.HasSerializationCallbacks() ||
		typeid(*bind_data.multi_file_reader) != typeid(MultiFileReader)) {
		return get.function.name + " finds and reads its files in its own way";
	}
	if (!get.children.empty() || !get.projected_input.empty()) {
		return get.function.name + " takes rows as input";
	}
	if (get.ordinality_idx.IsValid()) {
		return "WITH ORDINALITY numbers the rows of the whole scan";
	}
	if (get.extra_info.sample_options) {
		return "the scan takes a sample of its rows";
	}
	if (get.row_group_order_options) {
		return "the scan reads its row groups in an order of its own";
	}
	Value legacy_variants = false;
	context.TryGetCurrentSetting("__delta_only_variant_encoding_enabled", legacy_variants);
	if (legacy_variants.GetValue<bool>()) {
		return "variants are read in the encoding of Delta tables";
	}
	return string();
}

void CollectLeaves(const ParquetColumnSchema &schema, const ColumnIndex &column, vector<idx_t> &leaves) {
	if (schema.schema_type == ParquetColumnSchemaType::FILE_ROW_NUMBER) {
		return;
	}
	if (schema.children.empty()) {
		leaves.push_back(schema.column_index);
		return;
	}
	// Of a struct only the fields that are used are read.
	if (schema.type.id() == LogicalTypeId::STRUCT && column.HasChildren()) {
		for (auto &child : column.GetChildIndexes()) {
			if (child.GetPrimaryIndex() < schema.children.size()) {
				CollectLeaves(schema.children[child.GetPrimaryIndex()], child, leaves);
			}
		}
		return;
	}
	for (auto &child : schema.children) {
		CollectLeaves(child, ColumnIndex(), leaves);
	}
}

//! Describes the files of one scan, each on its own, on any thread.
class ScanInspector {
public:
	ScanInspector(ClientContext &context, const LogicalGet &get, const MultiFileBindData &bind_data,
				  ParquetOptionsSerialization options)
		: context_(context), get_(get), bind_data_(bind_data), options_(std::move(options)),
		  pruner_(context, get, bind_data, options_.file_options) {
		for (auto &reader : bind_data.union_readers) {
			if (reader) {
				bound_files_.emplace(reader->GetFileName(), reader.get());
			}
		}
	}

	//! Returns why the scan cannot be split because of this file; empty if it can.
	string Inspect(const OpenFileInfo &file, idx_t file_index, skein::ParquetFileInfo &result) const {
		auto reader = Open(file);
		result.path = file.path;
		result.open_path = skein::AbsolutePath(context_, file.path);
		result.version = VersionOf(*reader);
		result.row_group_count = reader->NumRowGroups();

		vector<idx_t> leaves;
		for (auto &column : get_.GetColumnIds()) {
			if (!IsFileColumn(bind_data_, column.GetPrimaryIndex())) {
				continue;
			}
			auto &global = GlobalColumns(bind_data_)[column.GetPrimaryIndex()];
			auto index = FindColumn(*reader, global, bind_data_.reader_bind.mapping);
			if (index.IsValid()) {
				CollectLeaves(reader->root_schema->children[index.GetIndex()], column, leaves);
			} else if (!options_.file_options.union_by_name && options_.parquet_options.schema.empty()) {
				return "file \"" + file.path + "\" has no column \"" + global.name + "\"";
			}
		}
		if (pruner_.ExcludesFile(file.path, file_index)) {
			return string();
		}
		ListRowGroups(*reader, leaves, result.row_groups);
		return string();
	}

private:
	shared_ptr<ParquetReader> Open(const OpenFileInfo &file) const {
		auto &initial_reader = bind_data_.initial_reader;
		if (initial_reader && initial_reader->GetFileName() == file.path) {
			return shared_ptr_cast<BaseFileReader, ParquetReader>(initial_reader);
		}
		shared_ptr<ParquetFileMetadataCache> footer;
		auto bound = bound_files_.find(file.path);
		if (bound != bound_files_.end()) {
			footer = bound->second->Cast<ParquetUnionData>().metadata;
		}
		return make_shared_ptr<ParquetReader>(context_, file, options_.parquet_options, std::move(footer));
	}

	void ListRowGroups(const ParquetReader &reader, const vector<idx_t> &leaves,
					   vector<skein::ParquetRowGroupInfo> &result) const {
		auto &row_groups = reader.GetFileMetadata()->row_groups;
		for (idx_t i = 0; i < row_groups.size(); i++) {
			if (row_groups[i].num_rows == 0 || pruner_.ExcludesRowGroup(reader, i)) {
				continue;
			}
			skein::ParquetRowGroupInfo info{i, NumericCast<idx_t>(row_groups[i].num_rows), 0};
			for (auto leaf : leaves) {
				info.bytes += NumericCast<idx_t>(row_groups[i].columns[leaf].meta_data.total_compressed_size);
			}
			result.push_back(info);
		}
	}

	ClientContext &context_;
	const LogicalGet &get_;
	const MultiFileBindData &bind_data_;
	ParquetOptionsSerialization options_;
	ScanPruner pruner_;
	//! What `union_by_name` read of the files while binding.
	unordered_map<string, BaseUnionData *> bound_files_;
};

class InspectFileTask final : public BaseExecutorTask {
public:
	InspectFileTask(TaskExecutor &executor, const ScanInspector &inspector, const OpenFileInfo &file, idx_t file_index,
					skein::ParquetFileInfo &result, string &reason)
		: BaseExecutorTask(executor), inspector_(inspector), file_(file), file_index_(file_index), result_(result),
		  reason_(reason) {
	}
	void ExecuteTask() override {
		try {
			reason_ = inspector_.Inspect(file_, file_index_, result_);
		} catch (std::exception &ex) {
			ErrorData error(ex);
			if (error.Type() == ExceptionType::INTERRUPT || error.Type() == ExceptionType::OUT_OF_MEMORY) {
				throw;
			}
			reason_ = "file \"" + file_.path + "\" cannot be read: " + error.RawMessage();
		}
	}
	string TaskType() const override {
		return "SkeinInspectFileTask";
	}

private:
	const ScanInspector &inspector_;
	const OpenFileInfo &file_;
	idx_t file_index_;
	skein::ParquetFileInfo &result_;
	string &reason_;
};

//! The files as DuckDB would list them when the scan starts: filters on paths may exclude more than the binder did.
vector<OpenFileInfo> FilesToScan(ClientContext &context, const LogicalGet &get, const MultiFileBindData &bind_data) {
	vector<column_t> column_ids;
	TableFilterSet filters;
	for (auto &column : get.GetColumnIds()) {
		auto filter = get.table_filters.filters.find(column.GetPrimaryIndex());
		auto first_use = std::find(column_ids.begin(), column_ids.end(), column.GetPrimaryIndex()) == column_ids.end();
		if (filter != get.table_filters.filters.end() && first_use) {
			filters.filters.emplace(column_ids.size(), filter->second->Copy());
		}
		column_ids.push_back(column.GetPrimaryIndex());
	}
	if (!filters.filters.empty()) {
		auto fewer =
			bind_data.multi_file_reader->DynamicFilterPushdown(context, *bind_data.file_list, bind_data.file_options,
															   bind_data.names, bind_data.types, column_ids, filters);
		if (fewer) {
			return fewer->GetAllFiles();
		}
	}
	return bind_data.file_list->GetAllFiles();
}

std::optional<vector<skein::ParquetFileInfo>> InspectScan(ClientContext &context, LogicalGet &get, string &reason) {
	auto bind_data = dynamic_cast<MultiFileBindData *>(get.bind_data.get());
	if (!bind_data || !bind_data->interface || typeid(*bind_data->interface) != typeid(ParquetMultiFileInfo)) {
		return std::nullopt;
	}
	reason = ReasonAgainst(context, get, *bind_data);
	if (!reason.empty()) {
		return std::nullopt;
	}
	auto options = OptionsOf(get.function, *bind_data);
	if (options.parquet_options.encryption_config) {
		reason = "the files are encrypted";
		return std::nullopt;
	}
	if (options.parquet_options.schema.empty() != bind_data->reader_bind.schema.empty()) {
		reason = get.function.name + " brings a schema of its own";
		return std::nullopt;
	}
	auto files = FilesToScan(context, get, *bind_data);
	for (auto &file : files) {
		reason = skein::ReasonAgainstFile(file);
		if (!reason.empty()) {
			return std::nullopt;
		}
	}

	ScanInspector inspector(context, get, *bind_data, std::move(options));
	vector<skein::ParquetFileInfo> result(files.size());
	vector<string> reasons(files.size());
	TaskExecutor executor(context);
	for (idx_t i = 0; i < files.size(); i++) {
		executor.ScheduleTask(make_uniq<InspectFileTask>(executor, inspector, files[i], i, result[i], reasons[i]));
	}
	executor.WorkOnTasks();
	for (auto &entry : reasons) {
		if (!entry.empty()) {
			reason = entry;
			return std::nullopt;
		}
	}
	return result;
}

} // namespace
} // namespace skein_parquet
} // namespace duckdb

namespace skein {

std::optional<duckdb::vector<ParquetFileInfo>> InspectParquetScan(duckdb::ClientContext &context,
																  duckdb::LogicalGet &get, std::string &reason) {
	return duckdb::skein_parquet::InspectScan(context, get, reason);
}

} // namespace skein
