#include "planner/leaf/text_leaf.hpp"

#include "engine/text_slice.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

namespace {

//! A range has so many bytes at least, about one of the reader's buffers: to open it, to find its first line and to
//! read on to the end of its last one then takes little of the time to read it.
constexpr duckdb::idx_t DEFAULT_RANGE_BYTES = 16000000;

//! As `skein_text_range_bytes` says, where there is this setting, which is checked when it is set.
duckdb::idx_t LeastRangeBytes(duckdb::ClientContext &context) {
	duckdb::Value value;
	if (!context.TryGetCurrentSetting("skein_text_range_bytes", value)) {
		return DEFAULT_RANGE_BYTES;
	}
	auto text = value.ToString();
	auto number = text.find_first_not_of("0123456789") == std::string::npos;
	return number ? std::stoull(text) : duckdb::DBConfig::ParseMemoryLimit(text);
}

} // namespace

std::optional<TextLeaf> AnalyzeTextScan(duckdb::ClientContext &context, duckdb::LogicalGet &get, std::string &reason) {
	auto files = InspectTextScan(context, get, LeastRangeBytes(context), reason);
	if (!files) {
		return std::nullopt;
	}
	TextLeaf leaf;
	leaf.name = TextScanName(get);
	leaf.files = std::move(*files);
	leaf.units.reserve(leaf.files.size());
	for (size_t number = 0; number < leaf.files.size(); number++) {
		auto &file = leaf.files[number];
		auto ranges = file.RangeCount();
		for (duckdb::idx_t i = 0; i < ranges; i++) {
			auto range = file.Range(i);
			leaf.units.push_back({number, i, 0, std::min(range.end, file.version.size) - range.begin});
		}
		leaf.total_bytes += file.version.size;
	}
	return leaf;
}

duckdb::unique_ptr<duckdb::LogicalGet> TextLeaf::MakeVariant(duckdb::ClientContext &context,
															 const duckdb::LogicalGet &get,
															 const duckdb::vector<ScanUnit> &units) const {
	duckdb::vector<SliceFile> slice_files;
	slice_files.reserve(units.size());
	duckdb::idx_t bytes = 0;
	for (auto &unit : units) {
		SliceFile file;
		static_cast<ScanFile &>(file) = files[unit.file];
		file.file_index = unit.file;
		file.range = files[unit.file].Range(unit.row_group);
		slice_files.push_back(std::move(file));
		bytes += unit.bytes;
	}
	auto slice = MakeTextSlice(context, get, std::move(slice_files));
	slice->SetEstimatedCardinality(ShareOfEstimate(get, bytes, total_bytes));
	return slice;
}

std::string TextLeaf::Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const {
	auto result = name + " files=[";
	size_t shown = 0;
	for (size_t i = 0; i < units.size(); i++) {
		auto &file = files[units[i].file];
		auto range = file.Range(units[i].row_group);
		while (i + 1 < units.size() && units[i + 1].file == units[i].file) {
			range.end = file.Range(units[++i].row_group).end;
		}
		result += shown == 0 ? "" : ", ";
		if (shown++ == max_files) {
			result += "...";
			break;
		}
		result += ShortPath(file.path);
		if (!range.IsWholeFile()) {
			auto last = std::min(range.end, file.version.size) - 1;
			result += " bytes=" + std::to_string(range.begin) + ".." + std::to_string(last);
		} else if (file.whole_because) {
			result += std::string(" whole (") + file.whole_because + ")";
		}
	}
	return result + "]";
}

std::string TextLeaf::WhyWhole() const {
	for (auto &file : files) {
		if (file.whole_because) {
			return file.path.substr(file.path.find_last_of("/\\") + 1) + " stays whole (" + file.whole_because + ")";
		}
	}
	return std::string();
}

} // namespace skein
