#include "planner/partition_dealing.hpp"

#include "planner/leaf_shares.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace skein {

using namespace duckdb;

namespace {

//! The most that one task may have, as a multiple of the mean: as a quotient.
constexpr idx_t MOST_NUMERATOR = 5;
constexpr idx_t MOST_DENOMINATOR = 4;

//! The values by weight, the heaviest first.
vector<std::pair<PartitionValue, idx_t>> HeaviestFirst(const std::map<PartitionValue, idx_t> &weights) {
	vector<std::pair<PartitionValue, idx_t>> result(weights.begin(), weights.end());
	std::stable_sort(result.begin(), result.end(), [](auto &left, auto &right) { return left.second > right.second; });
	return result;
}

} // namespace

PartitionDealing::PartitionDealing(std::vector<Member> members) : members_(std::move(members)) {
	for (auto &member : members_) {
		for (auto &entry : member.leaf->estimate.Weigh(member.columns)) {
			weights_[entry.first] += entry.second;
		}
	}
}

bool PartitionDealing::IsEven(const PlannerOptions &options) const {
	idx_t tasks = 1;
	for (auto &member : members_) {
		tasks = std::max(tasks, WantedTasks(member.leaf->node, options));
	}
	if (weights_.size() < tasks) {
		return false;
	}
	vector<idx_t> load(tasks);
	idx_t total = 0;
	auto task_of = TaskOfValue(tasks);
	for (auto &entry : weights_) {
		load[task_of.at(entry.first)] += entry.second;
		total += entry.second;
	}
	return *std::max_element(load.begin(), load.end()) * tasks * MOST_DENOMINATOR <= total * MOST_NUMERATOR;
}

std::map<PartitionValue, size_t> PartitionDealing::TaskOfValue(size_t tasks) const {
	std::map<PartitionValue, size_t> result;
	// The least first, among equals the task that comes first.
	std::set<std::pair<idx_t, size_t>> loads;
	for (size_t task = 0; task < tasks; task++) {
		loads.emplace(0, task);
	}
	for (auto &entry : HeaviestFirst(weights_)) {
		auto least = *loads.begin();
		loads.erase(loads.begin());
		result[entry.first] = least.second;
		loads.emplace(least.first + entry.second, least.second);
	}
	return result;
}

void PartitionDealing::Apply(ClientContext &context, const PlannerOptions &options) {
	for (auto &member : members_) {
		auto &node = member.leaf->node;
		auto deal = [dealing = shared_from_this(), member](size_t tasks) {
			return member.leaf->estimate.MakeVariants(member.columns, dealing->TaskOfValue(tasks), tasks);
		};
		DealLeaf(context, options, node, member.leaf->estimated, std::move(deal));
		node.dealt_by.clear();
		for (auto column : member.columns) {
			node.dealt_by.push_back(member.leaf->estimate.PartitionColumns()[column].name);
		}
		node.max_tasks = std::min<idx_t>(node.max_tasks, weights_.size());
	}
}

PartitionOffer OfferOf(LogicalDistributedLeaf &node, const EstimatedLeaf &estimated) {
	PartitionOffer result;
	auto estimate = dynamic_cast<const PartitionedEstimate *>(estimated.estimate.get());
	if (!estimate || !estimated.estimator.empty()) {
		return result;
	}
	auto columns = estimate->PartitionColumns();
	for (size_t i = 0; i < columns.size(); i++) {
		result.columns.push_back({i, {columns[i].binding}});
	}
	if (!columns.empty()) {
		result.leaf = std::make_shared<PartitionedLeaf>(PartitionedLeaf{node, estimated, *estimate});
	}
	return result;
}

std::vector<PartitionDealing::Member> MembersOf(const Distribution &distribution, const vector<size_t> &positions) {
	if (distribution.pinned || positions.empty()) {
		return {};
	}
	if (distribution.kind == DistributionKind::ARBITRARY && distribution.offer.leaf) {
		PartitionDealing::Member member{distribution.offer.leaf, {}};
		for (auto position : positions) {
			member.columns.push_back(distribution.offer.columns[position].number);
		}
		return {std::move(member)};
	}
	if (distribution.kind != DistributionKind::BY_VALUE || positions.size() != distribution.keys.size()) {
		return {};
	}
	std::vector<PartitionDealing::Member> result;
	for (auto &member : distribution.dealing->Members()) {
		PartitionDealing::Member reordered{member.leaf, {}};
		for (auto position : positions) {
			reordered.columns.push_back(member.columns[position]);
		}
		result.push_back(std::move(reordered));
	}
	return result;
}

bool KeepTogether(ClientContext &context, const PlannerOptions &options, Distribution &distribution) {
	vector<size_t> all(distribution.offer.columns.size());
	std::iota(all.begin(), all.end(), 0);
	auto members = distribution.kind == DistributionKind::ARBITRARY ? MembersOf(distribution, all)
																	: std::vector<PartitionDealing::Member>();
	if (members.empty()) {
		return false;
	}
	auto dealing = std::make_shared<PartitionDealing>(std::move(members));
	if (!dealing->IsEven(options)) {
		return false;
	}
	dealing->Apply(context, options);
	vector<EquivalentColumns> keys;
	for (auto &column : distribution.offer.columns) {
		keys.push_back(column.names);
	}
	distribution = Distribution::ByValue(std::move(keys), std::move(dealing));
	return true;
}

} // namespace skein
