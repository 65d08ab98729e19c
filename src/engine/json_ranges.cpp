#include "engine/text_slice_parts.hpp"

#include <cstring>

namespace duckdb {
namespace skein_text {

namespace {

//! Whether the file's first line is a JSON document by itself, and no list: DuckDB then takes the file to be
//! newline-delimited. Of a list it looks whether anything comes behind it.
bool BeginsWithLine(ClientContext &context, const skein::ScanFile &file, const JSONReaderOptions &options) {
	static constexpr idx_t STEP = 64 << 10;
	static constexpr idx_t LONGEST = 1 << 20;
	auto handle = FileSystem::GetFileSystem(context).OpenFile(file.OpenPath(), FileFlags::FILE_FLAGS_READ);
	auto limit = MinValue(MinValue(LONGEST, options.maximum_object_size), file.version.size);
	string text;
	auto end = string::npos;
	while (end == string::npos && text.size() < limit) {
		auto from = text.size();
		text.resize(MinValue<idx_t>(limit, from + STEP));
		handle->Read(&text[from], text.size() - from, from);
		end = text.find('\n', from);
	}
	if (end == string::npos) {
		return false;
	}
	JSONAllocator allocator(Allocator::Get(context));
	yyjson_read_err error;
	auto document = JSONCommon::ReadDocumentUnsafe(&text[0], end, JSONCommon::READ_FLAG, allocator.GetYYAlc(), &error);
	return error.code == YYJSON_READ_SUCCESS && !yyjson_is_arr(document->root);
}

//! The format of a file as far as DuckDB has found it out while it bound the scan.
JSONFormat FormatOf(const MultiFileBindData &scan, idx_t file_idx, const JSONReaderOptions &options) {
	if (options.format == JSONFormat::AUTO_DETECT && file_idx < scan.union_readers.size()) {
		auto &known = scan.union_readers[file_idx];
		if (known && known->reader) {
			return known->reader->Cast<JSONReader>().GetFormat();
		}
	}
	return options.format;
}

} // namespace

FileDivision DivideJson(ClientContext &context, const MultiFileBindData &scan, idx_t file_idx,
						const skein::ScanFile &file, idx_t range_bytes) {
	auto &options = static_cast<const JSONScanData &>(*scan.bind_data).options;
	// Whether DuckDB refuses a line longer than the largest object hangs on where its buffers begin.
	auto buffer_bytes = MaxValue<idx_t>(options.maximum_object_size, YYJSON_PADDING_SIZE + 1) - YYJSON_PADDING_SIZE;
	if (range_bytes >= buffer_bytes) {
		range_bytes = (range_bytes + buffer_bytes - 1) / buffer_bytes * buffer_bytes;
	}
	if (range_bytes == 0 || file.version.size / 2 < range_bytes) {
		return FileDivision();
	}
	if (!IsPlainFile(file.path, options.compression)) {
		return FileDivision::Whole("it is compressed");
	}
	// A document that goes on behind its line is an error that cannot be ignored, but only where what follows is read.
	if (options.ignore_errors && options.type == JSONScanType::READ_JSON) {
		return FileDivision::Whole("ignore_errors is on");
	}
	auto format = FormatOf(scan, file_idx, options);
	if (format == JSONFormat::AUTO_DETECT && !BeginsWithLine(context, file, options)) {
		return FileDivision::Whole("its first line is no document");
	}
	if (format != JSONFormat::AUTO_DETECT && format != JSONFormat::NEWLINE_DELIMITED) {
		return FileDivision::Whole("it is not newline-delimited");
	}
	return {range_bytes, nullptr};
}

} // namespace skein_text
} // namespace duckdb
