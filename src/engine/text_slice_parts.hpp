#pragma once

#include "json_multi_file_info.hpp"
#include "json_scan.hpp"

#include "engine/text_slice.hpp"

#include "duckdb/common/multi_file/multi_file_function.hpp"
#include "duckdb/execution/operator/csv_scanner/csv_multi_file_info.hpp"
#include "duckdb/function/table/read_csv.hpp"

// What the slices of CSV and of JSON files, and of files that are one row each, have in common, and the table
// functions.
namespace duckdb {
namespace skein_text {

//! WHOLE_FILE: read_text and read_blob.
enum class SliceKind : uint8_t { NONE, CSV, JSON, WHOLE_FILE };

//! Which of DuckDB's own readers a scan reads its files with.
SliceKind KindOf(const MultiFileBindData &bind_data);

//! What of a slice is independent of its files' format.
struct SliceDescription {
	vector<LogicalType> types;
	vector<string> names;
	vector<string> table_columns;
	MultiFileReaderBindData reader_bind;
	MultiFileOptions file_options;
	skein::SharedFiles<skein::SliceFile> files;

	static SliceDescription Of(const MultiFileBindData &scan, skein::SharedFiles<skein::SliceFile> files);
	//! Everything but the bind data of the format, which takes `files`.
	unique_ptr<MultiFileBindData> MakeBindData();

	static void Serialize(Serializer &object, const MultiFileBindData &slice,
						  const skein::SharedFiles<skein::SliceFile> &files);
	static SliceDescription Deserialize(Deserializer &object);
};

//! Opens a file for reading; throws IOException if it is missing or not the one that was planned for.
unique_ptr<FileHandle> OpenPart(ClientContext &context, const skein::SliceFile &part, FileOpenFlags flags);

//! How many threads the files of a slice can keep busy. DuckDB reads several files with all threads it has, of which
//! each takes a buffer of 32 MB; several tasks of one process would take that several times.
idx_t ThreadsFor(const skein::SharedFiles<skein::SliceFile> &files);
//! Whether a file is stored as it is read.
bool IsPlainFile(const string &path, FileCompressionType compression);

//! Shows the query the file indices of the whole scan.
struct SliceMultiFileReader final : public MultiFileReader {
	explicit SliceMultiFileReader(const string &function_name);

	ReaderInitializeType InitializeReader(MultiFileReaderData &reader_data, const MultiFileBindData &bind_data,
										  const vector<MultiFileColumnDefinition> &global_columns,
										  const vector<ColumnIndex> &global_column_ids,
										  optional_ptr<TableFilterSet> table_filters, ClientContext &context,
										  MultiFileGlobalState &global_state) override;
	unique_ptr<MultiFileReader> Copy() const override;
};

//! Takes from the function of a slice what binds, and what says more than can be known of a slice.
void MakeUnbindable(TableFunction &function);

//! The table function that reads some of the files of a CSV scan.
TableFunction CsvSliceFunction();
unique_ptr<FunctionData> MakeCsvSlice(ClientContext &context, const MultiFileBindData &scan,
									  vector<skein::SliceFile> files);

//! Whether a file can be divided.
struct FileDivision {
	//! In ranges of how many bytes tasks may read it; 0 if only as a whole.
	idx_t range_bytes = 0;
	//! Why not, for EXPLAIN, if it is large enough.
	const char *whole_because = nullptr;

	static FileDivision Whole(const char *because) {
		return {0, because};
	}
};

//! For ranges of at least `range_bytes` of file number `file_idx` of a CSV scan.
FileDivision DivideCsv(ClientContext &context, const MultiFileBindData &scan, idx_t file_idx,
					   const skein::ScanFile &file, idx_t range_bytes);
//! The options by which a range of such a file is read, of which `options` are those of the file.
CSVReaderOptions OptionsOfRange(CSVReaderOptions options, skein::ByteRange range);

//! For ranges of at least `range_bytes` of file number `file_idx` of a JSON scan.
FileDivision DivideJson(ClientContext &context, const MultiFileBindData &scan, idx_t file_idx,
						const skein::ScanFile &file, idx_t range_bytes);

//! The table function that reads some of the files of a JSON scan.
TableFunction JsonSliceFunction();
unique_ptr<FunctionData> MakeJsonSlice(const MultiFileBindData &scan, vector<skein::SliceFile> files);

//! The table function that reads some of the files of read_text or read_blob.
TableFunction FileSliceFunction();
unique_ptr<FunctionData> MakeFileSlice(const MultiFileBindData &scan, vector<skein::SliceFile> files);

} // namespace skein_text
} // namespace duckdb
