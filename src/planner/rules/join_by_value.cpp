#include "planner/rules/join_by_value.hpp"

#include <map>

namespace skein {

using namespace duckdb;

namespace {

//! The columns by which a side is, or can be, dealt.
vector<EquivalentColumns> DealtColumns(const Distribution &side) {
	if (side.kind == DistributionKind::BY_VALUE) {
		return side.keys;
	}
	vector<EquivalentColumns> result;
	if (side.kind == DistributionKind::ARBITRARY) {
		for (auto &column : side.offer.columns) {
			result.push_back(column.names);
		}
	}
	return result;
}

//! For each condition that compares a column by which the side can be dealt, that column's position.
std::map<idx_t, size_t> Positions(const EquiKeys &keys, const Distribution &side, bool on_left) {
	std::map<idx_t, size_t> result;
	auto columns = DealtColumns(side);
	for (size_t i = 0; i < columns.size(); i++) {
		auto condition = keys.Find(columns[i], on_left);
		if (condition.IsValid()) {
			result.emplace(condition.GetIndex(), i);
		}
	}
	return result;
}

} // namespace

std::optional<JoinByValue> FindJoinByValue(const EquiKeys &keys, const Distribution &left, const Distribution &right,
										   const PlannerOptions &options) {
	JoinByValue result;
	vector<size_t> left_positions, right_positions;
	auto on_right = Positions(keys, right, false);
	for (auto &entry : Positions(keys, left, true)) {
		auto other = on_right.find(entry.first);
		if (other != on_right.end()) {
			result.conditions.push_back(entry.first);
			left_positions.push_back(entry.second);
			right_positions.push_back(other->second);
		}
	}
	auto members = MembersOf(left, left_positions);
	auto right_members = MembersOf(right, right_positions);
	if (members.empty() || right_members.empty()) {
		return std::nullopt;
	}
	members.insert(members.end(), right_members.begin(), right_members.end());
	result.dealing = std::make_shared<PartitionDealing>(std::move(members));
	if (!result.dealing->IsEven(options)) {
		return std::nullopt;
	}
	return result;
}

} // namespace skein
