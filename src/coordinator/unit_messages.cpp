#include "coordinator/unit_messages.hpp"

#include "exchange/messages.hpp"

namespace skein {

namespace {

void SetLeaf(const AttemptKey &key, const UnitBroker::Leaf &leaf, uint32_t task, wire::LeafId &target) {
	target.set_query(key.query);
	target.set_attempt(key.attempt);
	target.set_stage(leaf.stage);
	target.set_task(task);
	target.set_leaf(leaf.leaf);
}

void SendTo(Node &node, const std::string &worker, const wire::Message &message) {
	try {
		SendMessage(*node.LinkTo(worker), message);
	} catch (std::exception &) {
		// This process is stopping, and with it the query.
	}
}

} // namespace

void SendOrders(Node &node, const Attempt &attempt, const UnitBroker::Orders &orders) {
	for (auto &order : orders.releases) {
		wire::Message message;
		auto &release = *message.mutable_release_units();
		SetLeaf(attempt.Key(), order.leaf, order.task, *release.mutable_leaf());
		release.set_at_least(order.at_least);
		if (order.pace) {
			release.set_micros_per_unit(static_cast<uint64_t>(order.pace->count()));
		}
		SendTo(node, attempt.WorkerOf(order.leaf.stage, order.task), message);
	}
	for (auto &order : orders.gives) {
		wire::Message message;
		auto &give = *message.mutable_give_units();
		SetLeaf(attempt.Key(), order.leaf, order.task, *give.mutable_leaf());
		give.mutable_parcel()->set_units(order.parcel.units);
		give.mutable_parcel()->set_slice(order.parcel.slice);
		SendTo(node, attempt.WorkerOf(order.leaf.stage, order.task), message);
	}
}

} // namespace skein
