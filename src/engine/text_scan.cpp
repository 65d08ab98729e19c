#include "engine/text_scan.hpp"

#include "engine/inspect_files.hpp"
#include "engine/text_slice_parts.hpp"

#include "duckdb/common/file_system.hpp"
#include "duckdb/function/table/read_file.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <typeinfo>

namespace duckdb {
namespace skein_text {

namespace {

//! What DuckDB's CSV reader reads without an extension.
const char *const BUILT_IN_ENCODINGS[] = {"utf-8", "latin-1", "utf-16"};

const MultiFileBindData *BindDataOf(const LogicalGet &get) {
	return dynamic_cast<const MultiFileBindData *>(get.bind_data.get());
}

string ReasonAgainstCsv(const LogicalGet &get, const MultiFileBindData &bind_data, idx_t file_count) {
	auto &options = bind_data.bind_data->Cast<ReadCSVData>().options;
	if (options.store_rejects.GetValue()) {
		return get.function.name + " writes what it rejects into tables of the session";
	}
	if (std::find(std::begin(BUILT_IN_ENCODINGS), std::end(BUILT_IN_ENCODINGS), options.encoding) ==
		std::end(BUILT_IN_ENCODINGS)) {
		return "the encoding \"" + options.encoding + "\" comes from an extension";
	}
	if (bind_data.file_options.union_by_name && bind_data.union_readers.size() != file_count) {
		return get.function.name + " looked into other files than it reads";
	}
	return string();
}

//! Why the scan cannot be represented by slices, whatever its files hold; empty if it can.
string ReasonAgainst(const LogicalGet &get, const MultiFileBindData &bind_data) {
	if (get.function.get_multi_file_reader || typeid(*bind_data.multi_file_reader) != typeid(MultiFileReader)) {
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
	return string();
}

//! Fills in what `file` is, from its list or else by opening it. Returns why it cannot be read by a task.
string Inspect(ClientContext &context, const OpenFileInfo &file, skein::TextFile &result) {
	result.path = file.path;
	result.absolute_path = skein::AbsolutePath(context, file.path);
	auto remote = FileSystem::IsRemoteFile(file.path);
	if (auto listed = skein::ListedVersion(file)) {
		result.version = std::move(*listed);
		if (!remote) {
			result.version.tag.clear();
		}
		return string();
	}
	auto &file_system = FileSystem::GetFileSystem(context);
	// To open a pipe is to wait for its writer, and takes from what it holds.
	auto &path = result.OpenPath();
	if (StringUtil::StartsWith(path, "/dev/") || StringUtil::StartsWith(path, "/proc/") || file_system.IsPipe(path)) {
		return "file \"" + file.path + "\" can be read only once, by the session";
	}
	auto handle = file_system.OpenFile(path, FileFlags::FILE_FLAGS_READ);
	if (!remote && handle->GetType() != FileType::FILE_TYPE_REGULAR) {
		return "file \"" + file.path + "\" is no regular file";
	}
	result.version = skein::VersionOf(*handle);
	return string();
}

FileDivision Divide(ClientContext &context, SliceKind kind, const MultiFileBindData &bind_data, idx_t file_idx,
					const skein::ScanFile &file, idx_t range_bytes) {
	if (kind == SliceKind::WHOLE_FILE) {
		return FileDivision();
	}
	// To find the ends of records takes reading all of it, which is for the tasks to do.
	if (FileSystem::IsRemoteFile(file.path)) {
		auto large = range_bytes > 0 && file.version.size / 2 >= range_bytes;
		return large ? FileDivision::Whole("it is on another machine") : FileDivision();
	}
	auto divide = kind == SliceKind::CSV ? DivideCsv : DivideJson;
	return divide(context, bind_data, file_idx, file, range_bytes);
}

std::optional<vector<skein::TextFile>> InspectScan(ClientContext &context, LogicalGet &get, idx_t range_bytes,
												   string &reason) {
	auto bind_data = BindDataOf(get);
	auto kind = bind_data ? KindOf(*bind_data) : SliceKind::NONE;
	if (kind == SliceKind::NONE) {
		return std::nullopt;
	}
	reason = ReasonAgainst(get, *bind_data);
	if (!reason.empty()) {
		return std::nullopt;
	}
	auto whole = kind == SliceKind::WHOLE_FILE;
	if (whole && get.function.name != "read_text" && get.function.name != "read_blob") {
		reason = get.function.name + " reads its files in its own way";
		return std::nullopt;
	}
	auto files = bind_data->file_list->GetAllFiles();
	if (kind == SliceKind::CSV) {
		reason = ReasonAgainstCsv(get, *bind_data, files.size());
		if (!reason.empty()) {
			return std::nullopt;
		}
	}
	static constexpr idx_t FILES_PER_TASK = 256;
	vector<skein::TextFile> result(files.size());
	reason = skein::InspectFiles(context, files, FILES_PER_TASK, [&](idx_t i) {
		auto against = skein::ReasonAgainstFile(files[i]);
		if (against.empty()) {
			against = Inspect(context, files[i], result[i]);
		}
		if (against.empty()) {
			auto division = Divide(context, kind, *bind_data, i, result[i], range_bytes);
			result[i].range_bytes = division.range_bytes;
			result[i].whole_because = division.whole_because;
		}
		return against;
	});
	if (!reason.empty()) {
		return std::nullopt;
	}
	return result;
}

} // namespace

SliceKind KindOf(const MultiFileBindData &bind_data) {
	if (!bind_data.interface) {
		return SliceKind::NONE;
	}
	auto &type = typeid(*bind_data.interface);
	if (type == typeid(CSVMultiFileInfo)) {
		return SliceKind::CSV;
	}
	if (type == typeid(JSONMultiFileInfo)) {
		return SliceKind::JSON;
	}
	// Their interface has no name outside of DuckDB.
	return bind_data.bind_data && typeid(*bind_data.bind_data) == typeid(ReadFileBindData) ? SliceKind::WHOLE_FILE
																						   : SliceKind::NONE;
}

} // namespace skein_text
} // namespace duckdb

namespace skein {

ByteRange TextFile::Range(duckdb::idx_t number) const {
	auto count = RangeCount();
	if (count == 1) {
		return ByteRange();
	}
	ByteRange result;
	result.begin = number * range_bytes;
	if (number + 1 < count) {
		result.end = result.begin + range_bytes;
	}
	return result;
}

std::optional<duckdb::vector<TextFile>> InspectTextScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
														duckdb::idx_t range_bytes, std::string &reason) {
	return duckdb::skein_text::InspectScan(context, get, range_bytes, reason);
}

std::string TextScanName(const duckdb::LogicalGet &get) {
	auto &bind_data = get.bind_data->Cast<duckdb::MultiFileBindData>();
	switch (duckdb::skein_text::KindOf(bind_data)) {
	case duckdb::skein_text::SliceKind::CSV:
		return "READ_CSV";
	case duckdb::skein_text::SliceKind::JSON:
		return "READ_JSON";
	default:
		return duckdb::StringUtil::Upper(get.function.name);
	}
}

} // namespace skein
