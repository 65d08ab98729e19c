#include "planner/leaf/scan_leaf.hpp"

#include "planner/leaf/metadata_leaf.hpp"
#include "planner/leaf/native_leaf.hpp"
#include "planner/leaf/parquet_leaf.hpp"
#include "planner/leaf/text_leaf.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

#include <cmath>

namespace skein {

namespace {

template <class LEAF>
std::shared_ptr<const ScanLeaf> Shared(std::optional<LEAF> leaf) {
	return leaf ? std::make_shared<const LEAF>(std::move(*leaf)) : nullptr;
}

} // namespace

std::shared_ptr<const ScanLeaf> AnalyzeScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											std::string &reason, FooterCache *footers) {
	reason.clear();
	auto leaf = Shared(AnalyzeParquetScan(context, get, reason, footers));
	if (!leaf && reason.empty()) {
		leaf = Shared(AnalyzeTextScan(context, get, reason));
	}
	if (!leaf && reason.empty()) {
		leaf = Shared(AnalyzeMetadataScan(context, get, reason));
	}
	if (!leaf && reason.empty()) {
		leaf = Shared(AnalyzeNativeScan(context, get, reason));
	}
	if (!leaf && reason.empty()) {
		reason = get.function.name + " is not a scan that can be divided";
	}
	return leaf;
}

duckdb::idx_t ShareOfEstimate(const duckdb::LogicalGet &get, duckdb::idx_t weight, duckdb::idx_t total_weight) {
	if (!get.has_estimated_cardinality || total_weight == 0) {
		return weight;
	}
	auto share = static_cast<double>(get.estimated_cardinality) * static_cast<double>(weight) /
				 static_cast<double>(total_weight);
	return static_cast<duckdb::idx_t>(std::ceil(share));
}

std::string ShortPath(const std::string &path) {
	auto slash = path.find_last_of('/');
	if (slash == std::string::npos || slash == 0) {
		return path;
	}
	slash = path.find_last_of('/', slash - 1);
	return slash == std::string::npos ? path : path.substr(slash + 1);
}

} // namespace skein
