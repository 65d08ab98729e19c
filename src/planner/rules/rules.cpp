#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

vector<unique_ptr<PlacementRule>> PlacementRules() {
	vector<unique_ptr<PlacementRule>> rules;
	rules.push_back(MakeScanRule());
	rules.push_back(MakeConstantRule());
	rules.push_back(MakeRowwiseRule());
	rules.push_back(MakeGroupingSetsRule());
	rules.push_back(MakeAggregateRule());
	rules.push_back(MakeDistinctRule());
	rules.push_back(MakeDelimJoinRule());
	rules.push_back(MakeDelimGetRule());
	rules.push_back(MakeJoinRule());
	rules.push_back(MakePositionalJoinRule());
	rules.push_back(MakeOrderRule());
	rules.push_back(MakeTopNRule());
	rules.push_back(MakeLimitRule());
	rules.push_back(MakeWindowRule());
	rules.push_back(MakeSampleRule());
	rules.push_back(MakeUnionRule());
	rules.push_back(MakeSetOperationRule());
	rules.push_back(MakeSharedPlanRule());
	rules.push_back(MakeSharedReadRule());
	rules.push_back(MakeRecursiveRule());
	return rules;
}

} // namespace skein
