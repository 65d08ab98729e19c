#include "coordinator/unit_broker.hpp"

#include <algorithm>

namespace skein {

UnitBroker::UnitBroker(const DistributedPlan &plan) {
	for (auto &stage : plan.stages) {
		for (auto &leaf : stage.shared_leaves) {
			leaves_[{stage.id, leaf.number}].most_left = leaf.units;
		}
	}
}

UnitBroker::Orders UnitBroker::OnWanted(const Leaf &leaf, uint32_t task, UnitPace pace) {
	Orders orders;
	auto entry = leaves_.find(leaf);
	if (entry == leaves_.end() || task >= entry->second.most_left.size()) {
		orders.gives.push_back({leaf, task, {}});
		return orders;
	}
	auto &state = entry->second;
	state.most_left[task] = 0;
	state.waiting.push_back({task, pace});
	Serve(leaf, state, orders);
	return orders;
}

UnitBroker::Orders UnitBroker::OnReleased(const Leaf &leaf, uint32_t task, uint64_t left, Parcel parcel) {
	Orders orders;
	auto entry = leaves_.find(leaf);
	if (entry == leaves_.end() || entry->second.asked != task) {
		return orders;
	}
	auto &state = entry->second;
	state.asked.reset();
	state.most_left[task] = left;
	if (parcel.units > 0) {
		auto taker = state.waiting.front().task;
		state.waiting.pop_front();
		state.most_left[taker] = parcel.units;
		orders.gives.push_back({leaf, taker, std::move(parcel)});
	}
	Serve(leaf, state, orders);
	return orders;
}

void UnitBroker::OnTaskEnded(uint32_t stage, uint32_t task) {
	for (auto &[leaf, state] : leaves_) {
		if (leaf.stage == stage && task < state.most_left.size()) {
			state.most_left[task] = 0;
		}
	}
}

void UnitBroker::Serve(const Leaf &leaf, LeafState &state, Orders &orders) {
	while (!state.asked && !state.waiting.empty()) {
		auto &left = state.most_left;
		auto best = std::max_element(left.begin(), left.end());
		if (*best == 0) {
			orders.gives.push_back({leaf, state.waiting.front().task, {}});
			state.waiting.pop_front();
			continue;
		}
		auto task = static_cast<uint32_t>(best - left.begin());
		uint64_t next_best = 1;
		for (uint32_t other = 0; other < left.size(); other++) {
			next_best = other == task ? next_best : std::max(next_best, left[other]);
		}
		state.asked = task;
		orders.releases.push_back({leaf, task, next_best, state.waiting.front().pace});
	}
}

} // namespace skein
