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

} // namespace skein
