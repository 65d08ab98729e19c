#include "engine/text_slice_parts.hpp"

namespace duckdb {
namespace skein_text {

namespace {

//! The options by which every reader of a file reads it; nullptr if it finds them out itself.
const CSVReaderOptions *KnownOptions(const MultiFileBindData &scan, idx_t file_idx) {
	auto &options = static_cast<const ReadCSVData &>(*scan.bind_data).options;
	if (scan.file_options.union_by_name) {
		return &static_cast<const CSVUnionData &>(*scan.union_readers[file_idx]).options;
	}
	auto known = !options.auto_detect || scan.file_list->GetExpandResult() == FileExpandResult::SINGLE_FILE;
	return known ? &options : nullptr;
}

//! Whether a newline ends a row wherever it stands, and a row that begins a range is read as it is read in the file.
//!
//! There are no quotes, and so nothing escapes a newline. Of rows that are wrong in themselves, of which DuckDB
//! ignores, pads or joins some, it may see others where a range begins. An empty line is a row of a single column, but
//! for the last one.
bool EveryLineIsARow(const CSVReaderOptions &options) {
	auto &dialect = options.dialect_options;
	auto &machine = dialect.state_machine_options;
	auto columns = dialect.num_cols == 0 ? options.sql_type_list.size() : dialect.num_cols;
	auto plain = machine.quote.GetValue() == '\0' && machine.comment.GetValue() == '\0' && options.comment == '\0' &&
				 machine.delimiter.GetValue().find_first_of("\r\n") == string::npos;
	auto strict = machine.strict_mode.GetValue() && !options.ignore_errors.GetValue() && !options.null_padding;
	return plain && strict && columns > 1 && dialect.skip_rows.GetValue() == 0 && options.encoding == "utf-8";
}

//! Whether the first line of a file is no empty one, and ends with \n, or also with \r\n if the reader knows it.
bool BeginsWithLine(ClientContext &context, const skein::ScanFile &file, NewLineIdentifier new_line) {
	static constexpr idx_t LONGEST = 64 << 10;
	auto handle = FileSystem::GetFileSystem(context).OpenFile(file.OpenPath(), FileFlags::FILE_FLAGS_READ);
	string head(MinValue(LONGEST, file.version.size), '\0');
	handle->Read(QueryContext(), &head[0], head.size(), 0);
	auto text = StringUtil::StartsWith(head, "\xEF\xBB\xBF") ? 3 : 0;
	auto end = head.find_first_of("\r\n");
	if (end == string::npos || end == static_cast<size_t>(text)) {
		return false;
	}
	return head[end] == '\n' || (new_line == NewLineIdentifier::CARRY_ON && head.compare(end, 2, "\r\n") == 0);
}

} // namespace

idx_t CsvRangeBytes(ClientContext &context, const MultiFileBindData &scan, idx_t file_idx, const skein::ScanFile &file,
					idx_t range_bytes) {
	auto options = KnownOptions(scan, file_idx);
	if (range_bytes == 0 || file.version.size / 2 < range_bytes || !options || !EveryLineIsARow(*options) ||
		!IsPlainFile(file.path, options->compression)) {
		return 0;
	}
	auto new_line = options->dialect_options.state_machine_options.new_line.GetValue();
	if (new_line == NewLineIdentifier::SINGLE_R || !BeginsWithLine(context, file, new_line)) {
		return 0;
	}
	return range_bytes;
}

CSVReaderOptions OptionsOfRange(CSVReaderOptions options, skein::ByteRange range) {
	auto &dialect = options.dialect_options;
	// DuckDB looks for the first newline of a file.
	if (dialect.state_machine_options.new_line.GetValue() == NewLineIdentifier::NOT_SET) {
		dialect.state_machine_options.new_line = NewLineIdentifier::SINGLE_N;
	}
	if (range.begin > 0) {
		dialect.header = CSVOption<bool>(false, dialect.header.IsSetByUser());
	}
	return options;
}

} // namespace skein_text
} // namespace duckdb
