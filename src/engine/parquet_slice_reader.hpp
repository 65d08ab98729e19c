#pragma once

#include "engine/parquet_footer.hpp"
#include "engine/parquet_slice.hpp"
#include "engine/slice_units.hpp"

// DuckDB's Parquet headers can only be used from inside its namespace.
namespace duckdb {
namespace skein_parquet {

//! Bind data of a slice, inside of DuckDB's MultiFileBindData. A unit is a row group.
struct SliceBindData final : public TableFunctionData, public skein::SliceUnits {
	ParquetOptions options;
	skein::SharedFiles<skein::ParquetSliceFile> files;
	//! Of each file, the position of its first unit, and behind the last the number of units. Follows from `files`.
	vector<idx_t> first_units;

	void CountUnits();
	idx_t Rows() const;
	unique_ptr<FunctionData> Copy() const override;
	idx_t UnitCount() const override {
		return first_units.back();
	}
	unique_ptr<FunctionData> Part(const FunctionData &slice, skein::UnitRange units) const override;
	//! The row groups of `units`, by their files.
	vector<skein::ParquetSliceFile> FilesOf(skein::UnitRange units) const;
};

//! Reads some row groups of one file and otherwise all as DuckDB's reader does.
//!
//! `file.path`, which the query and its errors show, is the path of the whole scan; opened is the slice's `open_path`.
class SliceReader final : public ParquetReader {
public:
	//! Reads file `position` of `slice`. Throws IOException if it is missing or not the one that was planned for.
	static shared_ptr<SliceReader> Open(ClientContext &context, const SliceBindData &slice, idx_t position);
	//! `footer` is read from the file if it is nullptr.
	SliceReader(ClientContext &context, const SliceBindData &slice, idx_t position,
				shared_ptr<ParquetFileMetadataCache> footer);

	bool TryInitializeScan(ClientContext &context, GlobalTableFunctionState &global_state,
						   LocalTableFunctionState &local_state) override;
	void PrepareScan(ClientContext &context, GlobalTableFunctionState &global_state,
					 LocalTableFunctionState &local_state) override;
	AsyncResult Scan(ClientContext &context, GlobalTableFunctionState &global_state,
					 LocalTableFunctionState &local_state, DataChunk &chunk) override;
	void FinishFile(ClientContext &context, GlobalTableFunctionState &global_state) override;
	double GetProgressInFile(ClientContext &context) override;

	const skein::ParquetSliceFile &Slice() const {
		return slice_;
	}

private:
	void OpenForScan(ClientContext &context, ParquetReaderScanState &state);

	//! Owned by the plan or by the scan, which outlive the reader.
	const SliceBindData &units_;
	const skein::ParquetSliceFile &slice_;
	//! What is given out next; guarded by the lock of the whole scan.
	idx_t next_range_ = 0;
	idx_t next_in_range_ = 0;
	//! Its position in the slice.
	idx_t next_unit_;
};

//! Makes the states and readers of a slice.
struct SliceInterface final : public ParquetMultiFileInfo {
	unique_ptr<TableFunctionData> InitializeBindData(MultiFileBindData &multi_file_data,
													 unique_ptr<BaseFileReaderOptions> options) override;
	void FinalizeBindData(MultiFileBindData &multi_file_data) override;
	void GetBindInfo(const TableFunctionData &bind_data, BindInfo &info) override;
	optional_idx MaxThreads(const MultiFileBindData &bind_data, const MultiFileGlobalState &global_state,
							FileExpandResult expand_result) override;
	unique_ptr<GlobalTableFunctionState> InitializeGlobalState(ClientContext &context, MultiFileBindData &bind_data,
															   MultiFileGlobalState &global_state) override;
	unique_ptr<LocalTableFunctionState> InitializeLocalState(ExecutionContext &context,
															 GlobalTableFunctionState &global_state) override;
	shared_ptr<BaseFileReader> CreateReader(ClientContext &context, GlobalTableFunctionState &global_state,
											BaseUnionData &union_data, const MultiFileBindData &bind_data) override;
	shared_ptr<BaseFileReader> CreateReader(ClientContext &context, GlobalTableFunctionState &global_state,
											const OpenFileInfo &file, idx_t file_index,
											const MultiFileBindData &bind_data) override;
	shared_ptr<BaseFileReader> CreateReader(ClientContext &context, const OpenFileInfo &file,
											BaseFileReaderOptions &options,
											const MultiFileOptions &file_options) override;
	unique_ptr<NodeStatistics> GetCardinality(ClientContext &context, const MultiFileBindData &bind_data,
											  idx_t file_count) override;
	unique_ptr<MultiFileReaderInterface> Copy() override;
};

//! Shows the query the file indices of the whole scan.
struct SliceMultiFileReader final : public MultiFileReader {
	SliceMultiFileReader();
	ReaderInitializeType InitializeReader(MultiFileReaderData &reader_data, const MultiFileBindData &bind_data,
										  const vector<MultiFileColumnDefinition> &global_columns,
										  const vector<ColumnIndex> &global_column_ids,
										  optional_ptr<TableFilterSet> table_filters, ClientContext &context,
										  MultiFileGlobalState &global_state) override;
	unique_ptr<MultiFileReader> Copy() const override;
};

//! DuckDB's `get_metrics` for slices.
void GetSliceMetrics(ClientContext &context, const FunctionData *bind_data, GlobalTableFunctionState &global_state,
					 LocalTableFunctionState &local_state, const profiler_settings_t &requested_metrics,
					 profiler_metrics_t &metrics);

} // namespace skein_parquet
} // namespace duckdb
