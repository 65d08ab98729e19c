#include "planner/rules/join_filters.hpp"

#include "duckdb/planner/operator/logical_get.hpp"
#include "plan/columns.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "planner/rules/join_sides.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! So many rows may have the keys that filter the other side: of twice as many hashes the filter would be given up.
constexpr idx_t MOST_FILTER_ROWS = idx_t(1) << 21;
constexpr idx_t MOST_FILTER_ROWS_OF_A_TASK = idx_t(1) << 19;
//! From so many bytes on, as estimated, a side that is broadcast is worth to be filtered by the keys of the other.
constexpr double LEAST_FILTERED_BYTES = 8 << 20;

//! The boundary that the column `key` of `op` has crossed last, in the same stage; `key` is what it is called
//! there. Every value of the column but NULL has crossed it.
optional_ptr<LogicalExchange> BoundaryOf(LogicalOperator &op, unique_ptr<Expression> &key) {
	if (auto exchange = LogicalExchange::From(op)) {
		return exchange;
	}
	auto column = key->Cast<BoundColumnRefExpression>().binding;
	vector<ColumnBinding> own, below;
	if (PassesColumns(op, own, below)) {
		auto position = std::find(own.begin(), own.end(), column);
		if (position == own.end()) {
			return nullptr;
		}
		key->Cast<BoundColumnRefExpression>().binding = below[static_cast<idx_t>(position - own.begin())];
		return BoundaryOf(*op.children[0], key);
	}
	if (op.type != LogicalOperatorType::LOGICAL_FILTER && op.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN) {
		return nullptr;
	}
	for (auto &child : op.children) {
		auto columns = child->GetColumnBindings();
		if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
			return BoundaryOf(*child, key);
		}
	}
	return nullptr;
}

//! Whether it is likely that not all of a table's keys are left in the rows of `op`.
bool Reduces(const LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_PROJECTION:
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
	case LogicalOperatorType::LOGICAL_DISTINCT:
	case LogicalOperatorType::LOGICAL_WINDOW:
		return Reduces(*op.children[0]);
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
		return JoinTypeOf(op) != JoinType::INNER || Reduces(*op.children[0]) || Reduces(*op.children[1]);
	case LogicalOperatorType::LOGICAL_GET:
		return op.children.empty() && !op.Cast<LogicalGet>().table_filters.filters.empty();
	case LogicalOperatorType::LOGICAL_EXTENSION_OPERATOR: {
		if (auto leaf = dynamic_cast<const LogicalDistributedLeaf *>(&op)) {
			return Reduces(*leaf->leaf);
		}
		auto exchange = dynamic_cast<const LogicalExchange *>(&op);
		return !exchange || exchange->shared_cte || Reduces(*exchange->children[0]);
	}
	default:
		return true;
	}
}

//! Whether the hash of each of `rows`, sent to all tasks that read `filtered`, is not given up, and is less than
//! these.
bool IsFilterWorthIt(Placement &placement, LogicalOperator &rows, LogicalOperator &filtered) {
	auto count = rows.EstimateCardinality(placement.Context());
	auto tasks = placement.Options().max_tasks;
	auto bytes = static_cast<double>(count * tasks * sizeof(hash_t));
	return count <= MOST_FILTER_ROWS && count / tasks <= MOST_FILTER_ROWS_OF_A_TASK &&
		   bytes <= placement.EstimateBytes(filtered);
}

//! What rows of the left side could be filtered by: one for each boundary that columns of the right side have
//! crossed.
vector<LogicalExchange::Filter> FiltersByRight(LogicalOperator &op) {
	vector<LogicalExchange::Filter> result;
	for (auto &condition : op.Cast<LogicalComparisonJoin>().conditions) {
		if (condition.comparison != ExpressionType::COMPARE_EQUAL ||
			condition.left->GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF ||
			condition.right->GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF ||
			condition.left->return_type != condition.right->return_type) {
			continue;
		}
		auto key = condition.right->Copy();
		auto boundary = BoundaryOf(*op.children[1], key);
		if (!boundary) {
			continue;
		}
		auto known = std::find_if(result.begin(), result.end(),
								  [&](auto &filter) { return &filter.by.get() == boundary.get(); });
		if (known == result.end()) {
			result.push_back({*boundary, {}, {}});
			known = result.end() - 1;
		}
		known->own_keys.push_back(condition.left->Copy());
		known->other_keys.push_back(std::move(key));
	}
	return result;
}

} // namespace

void FilterShuffle(LogicalOperator &moved, optional_ptr<LogicalExchange> by) {
	if (by && Reduces(*by->children[0])) {
		auto &exchange = *LogicalExchange::From(moved);
		exchange.filter = LogicalExchange::Filter{*by, CopyAll(exchange.expressions), CopyAll(by->expressions)};
	}
}

void FilterLeft(Placement &placement, LogicalOperator &op, optional_ptr<LogicalExchange> by) {
	auto &left = *op.children[0];
	FilterShuffle(left, by);
	if (op.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN) {
		return;
	}
	auto &exchange = *LogicalExchange::From(left);
	auto best = exchange.filter ? exchange.filter->own_keys.size() : 0;
	for (auto &filter : FiltersByRight(op)) {
		auto &rows = *filter.by.get().children[0];
		if (filter.own_keys.size() > best && IsFilterWorthIt(placement, rows, left) && Reduces(rows)) {
			best = filter.own_keys.size();
			exchange.filter = std::move(filter);
		}
	}
}

void FilterBroadcast(Placement &placement, LogicalOperator &op, JoinType type) {
	auto exchange = LogicalExchange::From(*op.children[1]);
	if (!exchange || exchange->shared_cte || !MayFilterRight(type) ||
		op.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN ||
		placement.EstimateBytes(*op.children[1]) < LEAST_FILTERED_BYTES) {
		return;
	}
	for (auto &condition : op.Cast<LogicalComparisonJoin>().conditions) {
		if (condition.comparison != ExpressionType::COMPARE_EQUAL ||
			condition.left->GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF ||
			condition.left->return_type != condition.right->return_type) {
			continue;
		}
		auto key = condition.left->Copy();
		auto boundary = BoundaryOf(*op.children[0], key);
		if (boundary && Reduces(*boundary->children[0])) {
			exchange->filter = LogicalExchange::Filter{*boundary, {}, {}};
			exchange->filter->own_keys.push_back(condition.right->Copy());
			exchange->filter->other_keys.push_back(std::move(key));
			return;
		}
	}
}

} // namespace skein
