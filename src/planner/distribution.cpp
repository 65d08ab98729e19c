#include "planner/distribution.hpp"

namespace skein {

using namespace duckdb;

Distribution Restrict(Distribution distribution, const vector<ColumnBinding> &bindings) {
	return Rename(std::move(distribution), bindings, bindings);
}

void Distribution::ForgetKeys() {
	if (IsPartitioned()) {
		kind = DistributionKind::ARBITRARY;
	}
	keys.clear();
	boundary = nullptr;
	dealing = nullptr;
	offer = {};
}

namespace {

EquivalentColumns RenameAll(const EquivalentColumns &columns, const vector<ColumnBinding> &from,
							const vector<ColumnBinding> &to) {
	EquivalentColumns result;
	for (auto &column : columns) {
		for (idx_t i = 0; i < from.size(); i++) {
			if (from[i] == column) {
				result.push_back(to[i]);
			}
		}
	}
	return result;
}

} // namespace

Distribution Rename(Distribution distribution, const vector<ColumnBinding> &from, const vector<ColumnBinding> &to) {
	for (auto &key : distribution.keys) {
		key = RenameAll(key, from, to);
		if (key.empty()) {
			distribution.ForgetKeys();
			return distribution;
		}
	}
	auto offered = std::move(distribution.offer.columns);
	distribution.offer.columns.clear();
	for (auto &column : offered) {
		column.names = RenameAll(column.names, from, to);
		if (!column.names.empty()) {
			distribution.offer.columns.push_back(std::move(column));
		}
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
