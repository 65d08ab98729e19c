#include "engine/parquet_scan.hpp"

#include "engine/inspect_files.hpp"
#include "engine/parquet_digest.hpp"
#include "engine/parquet_pruning.hpp"

#include "duckdb/common/file_system.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <atomic>
#include <map>
#include <mutex>
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

//! The column chunks that a scan reads of the files with one schema.
struct ChunksToRead {
	std::shared_ptr<const ParquetFileSchema> schema;
	vector<idx_t> chunks;
	//! A column that these files lack, though they must not.
	string missing_column;
};

//! Describes the files of one scan, each on its own, on any thread.
class ScanInspector {
public:
	ScanInspector(ClientContext &context, const LogicalGet &get, const MultiFileBindData &bind_data,
				  ParquetOptionsSerialization options, skein::FooterCache *footers)
		: context_(context), get_(get), bind_data_(bind_data), options_(std::move(options)),
		  pruner_(context, get, bind_data, options_), footers_(footers) {
		for (auto &reader : bind_data.union_readers) {
			if (reader) {
				bound_files_.emplace(reader->GetFileName(), reader.get());
			}
		}
		auto &parquet = options_.parquet_options;
		if (!parquet.schema.empty()) {
			footers_ = nullptr;
		}
		if (parquet.binary_as_string || parquet.file_row_number || parquet.variant_legacy_encoding) {
			key_suffix_ = string("\n") + (parquet.binary_as_string ? "b" : "") + (parquet.file_row_number ? "r" : "") +
						  (parquet.variant_legacy_encoding ? "v" : "");
		}
	}

	//! Returns why the scan cannot be split because of this file; empty if it can. Adds its row groups to `row_groups`.
	string Inspect(const OpenFileInfo &file, idx_t file_index, skein::ParquetFileInfo &result,
				   vector<skein::ParquetRowGroupInfo> &row_groups) {
		auto reason = skein::ReasonAgainstFile(file);
		if (!reason.empty()) {
			return reason;
		}
		result.path = file.path;
		result.absolute_path = skein::AbsolutePath(context_, file.path);
		auto digest = DigestFor(file, result.OpenPath());
		result.version = digest->version;
		result.footer_hash = digest->version.footer_hash;
		result.row_group_count = digest->RowGroupCount();
		ChunksToRead own;
		auto &to_read = footers_ ? SharedChunksOf(digest->schema) : (own = FindChunks(*digest->schema));
		if (!to_read.missing_column.empty()) {
			return "file \"" + file.path + "\" has no column \"" + to_read.missing_column + "\"";
		}
		if (!pruner_.ExcludesFile(file.path, file_index)) {
			ListRowGroups(*digest, file_index, to_read.chunks, row_groups);
		}
		return string();
	}

private:
	using Digest = skein::FooterCache::Digest;

	Digest DigestFor(const OpenFileInfo &file, const string &open_path) {
		auto &initial_reader = bind_data_.initial_reader;
		if (initial_reader && initial_reader->GetFileName() == file.path) {
			return std::make_shared<const ParquetDigest>(
				DigestOf(initial_reader->Cast<ParquetReader>(), Timestamp::GetCurrentTimestamp()));
		}
		auto bound = bound_files_.find(file.path);
		if (bound != bound_files_.end()) {
			ParquetReader reader(context_, file, options_.parquet_options,
								 bound->second->Cast<ParquetUnionData>().metadata);
			return std::make_shared<const ParquetDigest>(DigestOf(reader, Timestamp::GetCurrentTimestamp()));
		}
		auto marked = key_suffix_.empty() ? string() : open_path + key_suffix_;
		auto &key = marked.empty() ? open_path : marked;
		if (auto known = FindKnown(file, key)) {
			return known;
		}
		auto opened_at = Timestamp::GetCurrentTimestamp();
		ParquetReader reader(context_, file, options_.parquet_options);
		auto digest = DigestOf(reader, opened_at);
		return footers_ ? footers_->Add(key, std::move(digest))
						: std::make_shared<const ParquetDigest>(std::move(digest));
	}

	//! What is known of a file from an earlier query, if it is still the same.
	Digest FindKnown(const OpenFileInfo &file, const string &key) {
		if (!footers_) {
			return nullptr;
		}
		auto version = skein::ListedVersion(file);
		if (!version && !footers_->Holds(key)) {
			return nullptr;
		}
		if (!version) {
			auto handle = FileSystem::GetFileSystem(context_).OpenFile(file.path, FileFlags::FILE_FLAGS_READ);
			version.emplace();
			version->size = handle->GetFileSize();
			version->last_modified = handle->file_system.GetLastModifiedTime(*handle);
			version->tag = handle->file_system.GetVersionTag(*handle);
		}
		return footers_->Find(key, *version);
	}

	//! Found out once for all files that share a schema. What is returned lives as long as this object.
	const ChunksToRead &SharedChunksOf(const std::shared_ptr<const ParquetFileSchema> &schema) {
		auto latest = latest_to_read_.load();
		if (latest && latest->schema == schema) {
			return *latest;
		}
		std::lock_guard<std::mutex> guard(mutex_);
		auto &known = to_read_[schema];
		if (!known) {
			known = make_uniq<ChunksToRead>(FindChunks(*schema));
			known->schema = schema;
		}
		latest_to_read_ = known.get();
		return *known;
	}

	ChunksToRead FindChunks(const ParquetFileSchema &schema) const {
		ChunksToRead result;
		for (auto &column : get_.GetColumnIds()) {
			if (!IsFileColumn(bind_data_, column.GetPrimaryIndex())) {
				continue;
			}
			auto &global = GlobalColumns(bind_data_)[column.GetPrimaryIndex()];
			auto index = FindColumn(schema.columns, global, bind_data_.reader_bind.mapping);
			if (index.IsValid()) {
				CollectLeaves(schema.root.children[index.GetIndex()], column, result.chunks);
			} else if (!options_.file_options.union_by_name && options_.parquet_options.schema.empty()) {
				result.missing_column = global.name;
				return result;
			}
		}
		return result;
	}

	void ListRowGroups(const ParquetDigest &digest, idx_t file, const vector<idx_t> &chunks,
					   vector<skein::ParquetRowGroupInfo> &result) const {
		for (idx_t i = 0; i < digest.RowGroupCount(); i++) {
			if (digest.Rows(i) == 0 || pruner_.ExcludesRowGroup(digest, i)) {
				continue;
			}
			skein::ParquetRowGroupInfo info{file, i, digest.Rows(i), 0};
			for (auto chunk : chunks) {
				info.bytes += digest.Bytes(i, chunk);
			}
			result.push_back(info);
		}
	}

	ClientContext &context_;
	const LogicalGet &get_;
	const MultiFileBindData &bind_data_;
	const ParquetOptionsSerialization options_;
	const ScanPruner pruner_;
	//! nullptr: nothing is kept.
	skein::FooterCache *footers_;
	//! How files are read, as far as it changes their schemas; empty if they are read as usual.
	string key_suffix_;
	//! What `union_by_name` read of the files while binding.
	unordered_map<string, BaseUnionData *> bound_files_;
	std::mutex mutex_;
	std::map<std::shared_ptr<const ParquetFileSchema>, unique_ptr<ChunksToRead>> to_read_;
	//! Of the schema of a file that was looked at lately: most often all have the same.
	std::atomic<const ChunksToRead *> latest_to_read_{nullptr};
};

//! The files as DuckDB would list them when the scan starts: filters on paths may exclude more than the binder did.
shared_ptr<const MultiFileList> FilesToScan(ClientContext &context, const LogicalGet &get,
											const MultiFileBindData &bind_data) {
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
			return shared_ptr<const MultiFileList>(std::move(fewer));
		}
	}
	return bind_data.file_list;
}

//! What classes derived from DuckDB's lists see of them.
struct SeenSimpleList : SimpleMultiFileList {
	static const vector<OpenFileInfo> &FilesOf(const SimpleMultiFileList &list) {
		return list.*(&SeenSimpleList::paths);
	}
};

struct SeenLazyList : LazyMultiFileList {
	//! Once all are expanded, nothing is added.
	static const vector<OpenFileInfo> &FilesOf(const LazyMultiFileList &list) {
		(void) list.GetTotalFileCount();
		return list.*(&SeenLazyList::expanded_files);
	}
};

//! All files of `list`, as they are kept by it or else by `own`: a copy of many would take as long as all else.
const vector<OpenFileInfo> &AllFilesOf(const MultiFileList &list, vector<OpenFileInfo> &own) {
	// Of other classes, also of those derived from these, it is not known what they hold.
	if (typeid(list) == typeid(GlobMultiFileList)) {
		return SeenLazyList::FilesOf(static_cast<const GlobMultiFileList &>(list));
	}
	if (typeid(list) == typeid(SimpleMultiFileList)) {
		return SeenSimpleList::FilesOf(static_cast<const SimpleMultiFileList &>(list));
	}
	own = list.GetAllFiles();
	return own;
}

//! Few enough that all threads have work to the end, and enough that files that are known cost little more than a look.
idx_t FilesPerTask(ClientContext &context, idx_t files) {
	constexpr idx_t TASKS_PER_THREAD = 32;
	auto threads = NumericCast<idx_t>(TaskScheduler::GetScheduler(context).NumberOfThreads());
	return MaxValue<idx_t>(1, files / (threads * TASKS_PER_THREAD));
}

std::optional<skein::ParquetScanInfo> InspectScan(ClientContext &context, LogicalGet &get, string &reason,
												  skein::FooterCache *footers) {
	auto bind_data = dynamic_cast<MultiFileBindData *>(get.bind_data.get());
	if (!bind_data || !bind_data->interface || typeid(*bind_data->interface) != typeid(ParquetMultiFileInfo)) {
		return std::nullopt;
	}
	reason = ReasonAgainst(context, get, *bind_data);
	if (!reason.empty()) {
		return std::nullopt;
	}
	auto options = OptionsOf(context, get.function, *bind_data);
	if (options.parquet_options.encryption_config) {
		reason = "the files are encrypted";
		return std::nullopt;
	}
	if (options.parquet_options.schema.empty() != bind_data->reader_bind.schema.empty()) {
		reason = get.function.name + " brings a schema of its own";
		return std::nullopt;
	}
	auto list = FilesToScan(context, get, *bind_data);
	vector<OpenFileInfo> own;
	auto &files = AllFilesOf(*list, own);
	ScanInspector inspector(context, get, *bind_data, std::move(options), footers);
	auto files_per_task = FilesPerTask(context, files.size());
	skein::ParquetScanInfo result;
	result.files.resize(files.size());
	result.row_groups.resize((files.size() + files_per_task - 1) / files_per_task);
	reason = skein::InspectFiles(context, files, files_per_task, [&](idx_t i) {
		return inspector.Inspect(files[i], i, result.files[i], result.row_groups[i / files_per_task]);
	});
	if (!reason.empty()) {
		return std::nullopt;
	}
	return result;
}

} // namespace
} // namespace skein_parquet
} // namespace duckdb

namespace skein {

std::optional<ParquetScanInfo> InspectParquetScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
												  std::string &reason, FooterCache *footers) {
	return duckdb::skein_parquet::InspectScan(context, get, reason, footers);
}

} // namespace skein
