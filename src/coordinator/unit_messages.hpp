#pragma once

#include "coordinator/attempt.hpp"
#include "coordinator/unit_broker.hpp"
#include "exchange/node.hpp"

namespace skein {

//! Sends what the broker of `attempt` has decided to the workers of the tasks.
void SendOrders(Node &node, const Attempt &attempt, const UnitBroker::Orders &orders);

} // namespace skein
