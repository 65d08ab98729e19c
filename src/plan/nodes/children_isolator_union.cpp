#include "plan/nodes/children_isolator_union.hpp"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_empty_result.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

vector<vector<UnionPart>> PackChildren(const vector<UnionChild> &children, idx_t tasks) {
	vector<idx_t> by_weight;
	for (idx_t i = 0; i < children.size(); i++) {
		by_weight.push_back(i);
	}
	std::stable_sort(by_weight.begin(), by_weight.end(),
					 [&](idx_t left, idx_t right) { return children[left].weight > children[right].weight; });
	vector<vector<UnionPart>> result(tasks);
	vector<idx_t> load(tasks);
	for (auto child : by_weight) {
		// Among equally loaded tasks the one with the fewest children, then the first.
		idx_t lightest = 0;
		for (idx_t task = 1; task < tasks; task++) {
			if (std::make_pair(load[task], result[task].size()) <
				std::make_pair(load[lightest], result[lightest].size())) {
				lightest = task;
			}
		}
		load[lightest] += children[child].weight;
		result[lightest].push_back({child, 0, 1});
	}
	for (auto &parts : result) {
		std::sort(parts.begin(), parts.end(),
				  [](const UnionPart &left, const UnionPart &right) { return left.child < right.child; });
	}
	return result;
}

//! How many tasks each child gets: one, and of the rest what its weight is worth, as far as it can use them.
vector<idx_t> SharesByLargestRemainder(const vector<UnionChild> &children, idx_t tasks) {
	vector<idx_t> shares(children.size(), 1);
	double total = 0;
	for (auto &child : children) {
		total += static_cast<double>(child.weight);
	}
	vector<double> wanted;
	for (auto &child : children) {
		wanted.push_back(total == 0 ? 0 : static_cast<double>(child.weight) * static_cast<double>(tasks) / total);
	}
	for (auto left = tasks - children.size(); left > 0; left--) {
		optional_idx best;
		for (idx_t i = 0; i < children.size(); i++) {
			if (shares[i] >= children[i].max_shares) {
				continue;
			}
			if (!best.IsValid() || wanted[i] - static_cast<double>(shares[i]) >
									   wanted[best.GetIndex()] - static_cast<double>(shares[best.GetIndex()])) {
				best = i;
			}
		}
		if (!best.IsValid()) {
			break;
		}
		shares[best.GetIndex()]++;
	}
	return shares;
}

} // namespace

vector<vector<UnionPart>> DealUnionTasks(const vector<UnionChild> &children, idx_t tasks) {
	if (children.empty()) {
		return vector<vector<UnionPart>>(tasks);
	}
	if (tasks < children.size()) {
		return PackChildren(children, tasks);
	}
	auto shares = SharesByLargestRemainder(children, tasks);
	vector<vector<UnionPart>> result;
	for (idx_t child = 0; child < children.size(); child++) {
		for (idx_t share = 0; share < shares[child]; share++) {
			result.push_back({{child, share, shares[child]}});
		}
	}
	result.resize(tasks);
	return result;
}

LogicalChildrenIsolatorUnion::LogicalChildrenIsolatorUnion(idx_t table_index_p,
														   vector<unique_ptr<LogicalOperator>> children_p)
	: table_index(table_index_p) {
	children = std::move(children_p);
	types = children[0]->types;
}

vector<UnionPart> LogicalChildrenIsolatorUnion::PartsOf(idx_t task) const {
	vector<UnionPart> result = parts[task];
	for (idx_t child = 0; child < children.size(); child++) {
		if (std::find(isolated.begin(), isolated.end(), child) == isolated.end()) {
			result.push_back({child, 0, 1});
		}
	}
	std::sort(result.begin(), result.end(),
			  [](const UnionPart &left, const UnionPart &right) { return left.child < right.child; });
	return result;
}

string LogicalChildrenIsolatorUnion::Describe() const {
	string result;
	for (idx_t task = 0; task < parts.size(); task++) {
		string list;
		for (auto &part : PartsOf(task)) {
			list += (list.empty() ? "c" : ", c") + std::to_string(part.child);
			if (part.shares > 1) {
				list += "(" + std::to_string(part.share) + "/" + std::to_string(part.shares) + ")";
			}
		}
		result += (result.empty() ? "t" : " t") + std::to_string(task) + ":[" + list + "]";
	}
	return result;
}

unique_ptr<LogicalOperator> LogicalChildrenIsolatorUnion::MakePlain(vector<unique_ptr<LogicalOperator>> inputs) const {
	auto columns = types.size();
	if (inputs.size() > 1) {
		auto result = make_uniq<LogicalSetOperation>(table_index, columns, std::move(inputs),
													 LogicalOperatorType::LOGICAL_UNION, true, true);
		result->SetEstimatedCardinality(estimated_cardinality);
		return result;
	}
	vector<unique_ptr<Expression>> select_list;
	if (inputs.empty()) {
		// Nothing to read: a projection of nothing, under this operator's names.
		auto bindings = LogicalOperator::GenerateColumnBindings(table_index, columns);
		return make_uniq<LogicalEmptyResult>(types, bindings);
	}
	auto bindings = inputs[0]->GetColumnBindings();
	for (idx_t i = 0; i < columns; i++) {
		select_list.push_back(make_uniq<BoundColumnRefExpression>(types[i], bindings[i]));
	}
	auto result = make_uniq<LogicalProjection>(table_index, std::move(select_list));
	result->SetEstimatedCardinality(estimated_cardinality);
	result->children = std::move(inputs);
	return result;
}

PhysicalOperator &LogicalChildrenIsolatorUnion::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	throw InternalException("A union for all tasks was left in a plan that is executed");
}

} // namespace skein
