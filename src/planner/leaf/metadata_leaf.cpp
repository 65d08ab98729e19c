#include "planner/leaf/metadata_leaf.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

namespace {

//! What a footer is taken for: none is read for planning.
constexpr duckdb::idx_t FOOTER_BYTES = 64 << 10;

} // namespace

std::optional<MetadataLeaf> AnalyzeMetadataScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
												std::string &reason) {
	auto files = InspectMetadataScan(context, get, reason);
	if (!files) {
		return std::nullopt;
	}
	MetadataLeaf leaf;
	leaf.name = duckdb::StringUtil::Upper(get.function.name);
	leaf.files = std::move(*files);
	leaf.units.reserve(leaf.files.size());
	for (size_t number = 0; number < leaf.files.size(); number++) {
		auto bytes = std::min(leaf.files[number].version.size, FOOTER_BYTES);
		leaf.units.push_back({number, 0, 0, bytes});
		leaf.total_bytes += bytes;
	}
	return leaf;
}

duckdb::unique_ptr<duckdb::LogicalGet> MetadataLeaf::MakeVariant(duckdb::ClientContext &context,
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
	auto slice = MakeMetadataSlice(context, get, std::move(slice_files));
	slice->SetEstimatedCardinality(ShareOfEstimate(get, bytes, total_bytes));
	return slice;
}

std::string MetadataLeaf::Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const {
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
