#include "plan/nodes/exchange.hpp"

namespace skein {

using namespace duckdb;

LogicalExchange::LogicalExchange(ExchangeKind kind_p, vector<unique_ptr<Expression>> keys,
								 unique_ptr<LogicalOperator> child)
	: LogicalExtensionOperator(std::move(keys)), kind(kind_p) {
	estimated_cardinality = child->estimated_cardinality;
	has_estimated_cardinality = child->has_estimated_cardinality;
	children.push_back(std::move(child));
	types = children[0]->types;
}

PhysicalOperator &LogicalExchange::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	throw InternalException("A boundary between stages was left in a plan that is executed");
}

string LogicalExchange::GetName() const {
	switch (kind) {
	case ExchangeKind::SHUFFLE:
		return "NetworkShuffle";
	case ExchangeKind::BROADCAST:
		return "NetworkBroadcast";
	case ExchangeKind::COALESCE:
		return "NetworkCoalesce";
	case ExchangeKind::KEY_HASHES:
		return "NetworkKeyHashes";
	}
	throw InternalException("Unknown kind of exchange");
}

optional_ptr<LogicalExchange> LogicalExchange::From(LogicalOperator &op) {
	return dynamic_cast<LogicalExchange *>(&op);
}

} // namespace skein
