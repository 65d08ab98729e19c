#include "engine/parquet_slice_reader.hpp"

#include "engine/plan_meter.hpp"
#include "engine/read_footers.hpp"

#include "duckdb/common/enums/metric_type.hpp"
#include "duckdb/common/file_system.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"

namespace duckdb {
namespace skein_parquet {

namespace {

constexpr const char *FUNCTION_NAME = "skein_parquet_slice";

struct SliceGlobalState final : public GlobalTableFunctionState {
	explicit SliceGlobalState(optional_ptr<const PhysicalOperator> op_p) : op(op_p) {
	}
	//! Guarded by the lock of the whole scan.
	idx_t row_groups_given_out = 0;
	optional_ptr<const PhysicalOperator> op;
};

struct SliceLocalState final : public LocalTableFunctionState {
	SliceLocalState(ExecutionContext &context, optional_ptr<const PhysicalOperator> op_p)
		: profile(context), meter(skein::PlanMeter::Find(context.client)), op(op_p) {
	}
	~SliceLocalState() override {
		if (meter && op) {
			skein::OperatorMetrics metrics;
			metrics.rows_read = rows_read;
			metrics.row_groups_read = row_groups_read;
			metrics.row_groups_skipped = row_groups - row_groups_read;
			meter->Add(*op, metrics);
		}
	}

	ParquetReaderScanState scan_state;
	idx_t row_group = 0;
	idx_t rows_read = 0;
	//! That it was to read, and those of which it read rows.
	idx_t row_groups = 0;
	idx_t row_groups_read = 0;
	bool has_read_rows = false;
	skein::UnfinishedProfile profile;
	//! nullptr if nobody wants to know.
	const shared_ptr<skein::PlanMeter> meter;
	optional_ptr<const PhysicalOperator> op;
};

const SliceBindData &SliceOf(const MultiFileBindData &bind_data) {
	return bind_data.bind_data->Cast<SliceBindData>();
}

} // namespace

shared_ptr<SliceReader> SliceReader::Open(ClientContext &context, const SliceBindData &units, idx_t position) {
	auto &slice = units.files[position];
	shared_ptr<SliceReader> reader;
	auto opened_at = Timestamp::GetCurrentTimestamp();
	auto known = ReadFooter::Find(context, slice.OpenPath());
	try {
		if (known) {
			reader = make_shared_ptr<SliceReader>(context, units, position, known->Metadata());
		}
		if (!known || !known->IsOf(*reader)) {
			reader = make_shared_ptr<SliceReader>(context, units, position, nullptr);
			ReadFooter::Keep(context, slice.OpenPath(), *reader, opened_at);
		}
	} catch (std::exception &ex) {
		skein::ExplainFailure(context, slice.OpenPath(), slice.version, ErrorData(ex));
		throw;
	}
	auto found = VersionOf(*reader);
	skein::CheckVersion(slice.OpenPath(), slice.version, found);
	if (found.footer_hash != slice.footer_hash) {
		skein::ThrowFileChanged(slice.OpenPath(), "its footer is another one");
	}
	return reader;
}

SliceReader::SliceReader(ClientContext &context, const SliceBindData &slice, idx_t position,
						 shared_ptr<ParquetFileMetadataCache> footer)
	: ParquetReader(context, OpenFileInfo(slice.files[position].OpenPath()), slice.options, std::move(footer)),
	  units_(slice), slice_(slice.files[position]), next_unit_(slice.first_units[position]) {
	file.path = slice_.path;
}

bool SliceReader::TryInitializeScan(ClientContext &, GlobalTableFunctionState &global_state,
									LocalTableFunctionState &local_state) {
	if (next_range_ == slice_.ranges.size() || !units_.Claim(next_unit_)) {
		return false;
	}
	next_unit_++;
	auto &range = slice_.ranges[next_range_];
	local_state.Cast<SliceLocalState>().row_group = range.begin + next_in_range_;
	next_in_range_++;
	if (range.begin + next_in_range_ == range.end) {
		next_range_++;
		next_in_range_ = 0;
	}
	global_state.Cast<SliceGlobalState>().row_groups_given_out++;
	return true;
}

void SliceReader::PrepareScan(ClientContext &context, GlobalTableFunctionState &,
							  LocalTableFunctionState &local_state) {
	auto &state = local_state.Cast<SliceLocalState>();
	state.row_groups++;
	state.has_read_rows = false;
	units_.Begin();
	if (slice_.OpenPath() != slice_.path) {
		OpenForScan(context, state.scan_state);
	}
	InitializeScan(context, state.scan_state, {state.row_group});
}

void SliceReader::OpenForScan(ClientContext &context, ParquetReaderScanState &state) {
	if (state.file_handle && state.file_handle->GetPath() == slice_.OpenPath()) {
		return;
	}
	// InitializeScan opens what `file` names, unless it finds a handle. Only local files have two paths.
	Value prefetch_all = false;
	Value disable_prefetch = false;
	context.TryGetCurrentSetting("prefetch_all_parquet_files", prefetch_all);
	context.TryGetCurrentSetting("disable_parquet_prefetching", disable_prefetch);
	state.file_handle = fs.OpenFile(context, OpenFileInfo(slice_.OpenPath()), FileFlags::FILE_FLAGS_READ);
	state.prefetch_mode = (!state.file_handle->OnDiskFile() || prefetch_all.GetValue<bool>()) &&
						  state.file_handle->CanSeek() && !disable_prefetch.GetValue<bool>();
}

AsyncResult SliceReader::Scan(ClientContext &context, GlobalTableFunctionState &global_state,
							  LocalTableFunctionState &local_state, DataChunk &chunk) {
	auto &local = local_state.Cast<SliceLocalState>();
	auto &state = local.scan_state;
	state.op = global_state.Cast<SliceGlobalState>().op;
	auto row_group = state.current_group;
	auto row = state.offset_in_group;
	auto result = ParquetReader::Scan(context, state, chunk);
	if (state.current_group == row_group) {
		// Else it has only moved to the next one.
		local.rows_read += state.offset_in_group - row;
		if (state.offset_in_group > row && !local.has_read_rows) {
			local.has_read_rows = true;
			local.row_groups_read++;
			units_.NoteRead();
		}
	}
	return result;
}

void SliceReader::FinishFile(ClientContext &, GlobalTableFunctionState &) {
}

double SliceReader::GetProgressInFile(ClientContext &) {
	return 100.0 * static_cast<double>(rows_read.load()) / static_cast<double>(MaxValue<idx_t>(slice_.rows, 1));
}

idx_t SliceBindData::Rows() const {
	idx_t rows = 0;
	for (auto &file : files) {
		rows += file.rows;
	}
	return rows;
}

unique_ptr<FunctionData> SliceBindData::Copy() const {
	auto result = make_uniq<SliceBindData>();
	result->options = options;
	result->files = files;
	result->first_units = first_units;
	result->leaf = leaf;
	return result;
}

void SliceBindData::CountUnits() {
	first_units = {0};
	first_units.reserve(files.size() + 1);
	for (auto &file : files) {
		auto units = first_units.back();
		for (auto &range : file.ranges) {
			units += range.end - range.begin;
		}
		first_units.push_back(units);
	}
}

vector<skein::ParquetSliceFile> SliceBindData::FilesOf(skein::UnitRange units) const {
	vector<skein::ParquetSliceFile> result;
	for (idx_t i = 0; i < files.size(); i++) {
		if (first_units[i + 1] <= units.begin || first_units[i] >= units.end) {
			continue;
		}
		auto file = files[i];
		file.ranges.clear();
		idx_t kept = 0;
		auto unit = first_units[i];
		for (auto &range : files[i].ranges) {
			auto count = range.end - range.begin;
			auto begin = MaxValue<idx_t>(unit, units.begin);
			auto end = MinValue<idx_t>(unit + count, units.end);
			if (begin < end) {
				file.ranges.push_back({range.begin + begin - unit, range.begin + end - unit});
				kept += end - begin;
			}
			unit += count;
		}
		// An estimate: how many rows each row group has is not known here.
		file.rows = file.rows * kept / (first_units[i + 1] - first_units[i]);
		result.push_back(std::move(file));
	}
	return result;
}

unique_ptr<TableFunctionData> SliceInterface::InitializeBindData(MultiFileBindData &,
																 unique_ptr<BaseFileReaderOptions>) {
	throw InternalException("%s is never bound", FUNCTION_NAME);
}

void SliceInterface::FinalizeBindData(MultiFileBindData &) {
}

void SliceInterface::GetBindInfo(const TableFunctionData &bind_data, BindInfo &info) {
	auto &options = bind_data.Cast<SliceBindData>().options;
	info.type = ScanType::PARQUET;
	info.InsertOption("binary_as_string", Value::BOOLEAN(options.binary_as_string));
	info.InsertOption("file_row_number", Value::BOOLEAN(options.file_row_number));
}

optional_idx SliceInterface::MaxThreads(const MultiFileBindData &bind_data, const MultiFileGlobalState &,
										FileExpandResult) {
	return MaxValue<idx_t>(SliceOf(bind_data).UnitCount(), 1);
}

unique_ptr<GlobalTableFunctionState> SliceInterface::InitializeGlobalState(ClientContext &, MultiFileBindData &,
																		   MultiFileGlobalState &global_state) {
	return make_uniq<SliceGlobalState>(global_state.op);
}

unique_ptr<LocalTableFunctionState> SliceInterface::InitializeLocalState(ExecutionContext &context,
																		 GlobalTableFunctionState &global_state) {
	return make_uniq<SliceLocalState>(context, global_state.Cast<SliceGlobalState>().op);
}

shared_ptr<BaseFileReader> SliceInterface::CreateReader(ClientContext &, GlobalTableFunctionState &, BaseUnionData &,
														const MultiFileBindData &) {
	throw InternalException("%s opens no files before it runs", FUNCTION_NAME);
}

shared_ptr<BaseFileReader> SliceInterface::CreateReader(ClientContext &context, GlobalTableFunctionState &,
														const OpenFileInfo &file, idx_t,
														const MultiFileBindData &bind_data) {
	auto &slice = SliceOf(bind_data);
	auto position = skein::SliceFileList::PositionOf(file);
	if (!slice.Has(slice.first_units[position])) {
		return make_shared_ptr<skein::ReleasedFile>(file);
	}
	return SliceReader::Open(context, slice, position);
}

shared_ptr<BaseFileReader> SliceInterface::CreateReader(ClientContext &, const OpenFileInfo &, BaseFileReaderOptions &,
														const MultiFileOptions &) {
	throw InternalException("%s opens no files before it runs", FUNCTION_NAME);
}

unique_ptr<NodeStatistics> SliceInterface::GetCardinality(ClientContext &, const MultiFileBindData &bind_data, idx_t) {
	auto rows = SliceOf(bind_data).Rows();
	return make_uniq<NodeStatistics>(rows, rows);
}

unique_ptr<MultiFileReaderInterface> SliceInterface::Copy() {
	return make_uniq<SliceInterface>();
}

SliceMultiFileReader::SliceMultiFileReader() {
	function_name = FUNCTION_NAME;
}

ReaderInitializeType SliceMultiFileReader::InitializeReader(
	MultiFileReaderData &reader_data, const MultiFileBindData &bind_data,
	const vector<MultiFileColumnDefinition> &global_columns, const vector<ColumnIndex> &global_column_ids,
	optional_ptr<TableFilterSet> table_filters, ClientContext &context, MultiFileGlobalState &global_state) {
	if (skein::ReleasedFile::Is(*reader_data.reader)) {
		return ReaderInitializeType::SKIP_READING_FILE;
	}
	reader_data.reader->file_list_idx = reader_data.reader->Cast<SliceReader>().Slice().file_index;
	return MultiFileReader::InitializeReader(reader_data, bind_data, global_columns, global_column_ids, table_filters,
											 context, global_state);
}

unique_ptr<MultiFileReader> SliceMultiFileReader::Copy() const {
	return make_uniq<SliceMultiFileReader>();
}

void GetSliceMetrics(ClientContext &, const FunctionData *, GlobalTableFunctionState &global_state,
					 LocalTableFunctionState &local_state, const profiler_settings_t &requested_metrics,
					 profiler_metrics_t &metrics) {
	auto &global = global_state.Cast<MultiFileGlobalState>().global_state->Cast<SliceGlobalState>();
	auto &local = local_state.Cast<MultiFileLocalState>().local_state->Cast<SliceLocalState>();
	if (requested_metrics.count(MetricType::OPERATOR_ROW_GROUPS_SCANNED)) {
		metrics[MetricType::OPERATOR_ROW_GROUPS_SCANNED] = Value::UBIGINT(local.scan_state.row_groups_scanned);
	}
	if (requested_metrics.count(MetricType::OPERATOR_TOTAL_ROW_GROUPS_TO_SCAN)) {
		metrics[MetricType::OPERATOR_TOTAL_ROW_GROUPS_TO_SCAN] = Value::UBIGINT(global.row_groups_given_out);
	}
}

} // namespace skein_parquet
} // namespace duckdb
