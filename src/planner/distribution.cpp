#include "planner/distribution.hpp"

namespace skein {

using namespace duckdb;

Distribution Restrict(Distribution distribution, const vector<ColumnBinding> &bindings) {
	return Rename(std::move(distribution), bindings, bindings);
}

Distribution Rename(Distribution distribution, const vector<ColumnBinding> &from, const vector<ColumnBinding> &to) {
	if (distribution.kind != DistributionKind::HASH) {
		return distribution;
	}
	for (auto &key : distribution.keys) {
		EquivalentColumns renamed;
		for (auto &column : key) {
			for (idx_t i = 0; i < from.size(); i++) {
				if (from[i] == column) {
					renamed.push_back(to[i]);
				}
			}
		}
		if (renamed.empty()) {
			distribution.kind = DistributionKind::ARBITRARY;
			distribution.keys.clear();
			distribution.boundary = nullptr;
			return distribution;
		}
		key = std::move(renamed);
	}
	return distribution;
}

vector<ColumnBinding> Renamed(const vector<ColumnBinding> &columns, const vector<ColumnBinding> &from,
							  const vector<ColumnBinding> &to, bool keep_others) {
	vector<ColumnBinding> result;
	for (auto &column : columns) {
		auto found = std::find(from.begin(), from.end(), column);
		if (found != from.end()) {
			result.push_back(to[static_cast<idx_t>(found - from.begin())]);
		} else if (keep_others) {
			result.push_back(column);
		}
	}
	return result;
}

vector<ColumnBinding> Prefer(const vector<ColumnBinding> &columns, const vector<ColumnBinding> &preferred) {
	auto result = Renamed(preferred, columns, columns);
	return result.empty() ? columns : result;
}

} // namespace skein
