#include "planner/leaf/text_leaf.hpp"

#include "engine/text_slice.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

std::optional<TextLeaf> AnalyzeTextScan(duckdb::ClientContext &context, duckdb::LogicalGet &get, std::string &reason) {
	auto files = InspectTextScan(context, get, reason);
	if (!files) {
		return std::nullopt;
	}
	TextLeaf leaf;
	leaf.name = TextScanName(get);
	leaf.files = std::move(*files);
	leaf.units.reserve(leaf.files.size());
	for (size_t file = 0; file < leaf.files.size(); file++) {
		auto bytes = leaf.files[file].version.size;
		leaf.units.push_back({file, 0, 0, bytes});
		leaf.total_bytes += bytes;
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
		slice_files.push_back(std::move(file));
		bytes += unit.bytes;
	}
	auto slice = MakeTextSlice(context, get, std::move(slice_files));
	slice->SetEstimatedCardinality(ShareOfEstimate(get, bytes, total_bytes));
	return slice;
}

std::string TextLeaf::Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const {
	auto result = name + " files=[";
	for (size_t i = 0; i < units.size(); i++) {
		result += i == 0 ? "" : ", ";
		if (i == max_files) {
			result += "...";
			break;
		}
		result += ShortPath(files[units[i].file].path);
	}
	return result + "]";
}

} // namespace skein
