#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Rows that stand in the plan itself: in one task, or in every task where that is wanted.
class ConstantRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		switch (op.type) {
		case LogicalOperatorType::LOGICAL_DUMMY_SCAN:
		case LogicalOperatorType::LOGICAL_EXPRESSION_GET:
		case LogicalOperatorType::LOGICAL_CHUNK_GET:
		case LogicalOperatorType::LOGICAL_EMPTY_RESULT:
			return true;
		default:
			return false;
		}
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		// VALUES read a dummy row; nothing else is below.
		for (auto &child : op->children) {
			auto child_distribution = placement.Place(child, keep_order);
			if (!child_distribution.replicable) {
				return placement.Coalesce(child, child_distribution);
			}
		}
		auto result = Distribution::Single();
		result.replicable = true;
		result.in_order = true;
		return result;
	}
};

} // namespace

unique_ptr<PlacementRule> MakeConstantRule() {
	return make_uniq<ConstantRule>();
}

} // namespace skein
