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

//! Why a newline may not end a row wherever it stands, or a row that begins a range may not be read as it is read in
//! the file; nullptr if neither is so.
//!
//! Without quotes nothing escapes a newline. Of rows that are wrong in themselves, of which DuckDB ignores, pads or
//! joins some, it may see others where a range begins. An empty line is a row of a single column, but for the last one.
const char *ReasonAgainstLines(const CSVReaderOptions &options) {
	auto &dialect = options.dialect_options;
	auto &machine = dialect.state_machine_options;
	if (machine.quote.GetValue() != '\0') {
		return "quotes may hold newlines";
	}
	if (machine.comment.GetValue() != '\0' || options.comment != '\0') {
		return "it may have comments";
	}
	if (machine.delimiter.GetValue().find_first_of("\r\n") != string::npos) {
		return "its delimiter holds a newline";
	}
	if (!machine.strict_mode.GetValue()) {
		return "strict_mode is off";
	}
	if (options.ignore_errors.GetValue()) {
		return "ignore_errors is on";
	}
	if (options.null_padding) {
		return "null_padding is on";
	}
	auto columns = dialect.num_cols == 0 ? options.sql_type_list.size() : dialect.num_cols;
	if (columns <= 1) {
		return "an empty line is a row of its only column";
	}
	if (dialect.skip_rows.GetValue() != 0) {
		return "it begins with rows that are skipped";
	}
	return options.encoding == "utf-8" ? nullptr : "it is not UTF-8";
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

FileDivision DivideCsv(ClientContext &context, const MultiFileBindData &scan, idx_t file_idx,
					   const skein::ScanFile &file, idx_t range_bytes) {
	if (range_bytes == 0 || file.version.size / 2 < range_bytes) {
		return FileDivision();
	}
	auto options = KnownOptions(scan, file_idx);
	if (!options) {
		return FileDivision::Whole("its dialect is sniffed when it is read");
	}
	if (!IsPlainFile(file.path, options->compression)) {
		return FileDivision::Whole("it is compressed");
	}
	if (auto reason = ReasonAgainstLines(*options)) {
		return FileDivision::Whole(reason);
	}
	auto new_line = options->dialect_options.state_machine_options.new_line.GetValue();
	if (new_line == NewLineIdentifier::SINGLE_R) {
		return FileDivision::Whole("its lines end without \\n");
	}
	if (!BeginsWithLine(context, file, new_line)) {
		return FileDivision::Whole("its first line is empty or ends in another way than DuckDB expects");
	}
	return {range_bytes, nullptr};
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
