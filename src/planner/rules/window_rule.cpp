#include "duckdb/planner/expression/bound_window_expression.hpp"
#include "duckdb/planner/operator/logical_window.hpp"
#include "plan/columns.hpp"
#include "planner/partition_dealing.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The partition keys that all windows of an operator have in common, as they stand in the first.
vector<unique_ptr<Expression>> CommonPartitions(const LogicalOperator &op) {
	vector<unique_ptr<Expression>> result;
	for (auto &key : op.expressions[0]->Cast<BoundWindowExpression>().partitions) {
		auto everywhere = true;
		for (auto &expression : op.expressions) {
			auto &partitions = expression->Cast<BoundWindowExpression>().partitions;
			everywhere = everywhere && std::any_of(partitions.begin(), partitions.end(),
												   [&](auto &other) { return other->Equals(*key); });
		}
		if (everywhere) {
			result.push_back(key->Copy());
		}
	}
	return result;
}

//! An aggregate that returns the same whatever the order of its rows.
bool IgnoresOrder(const BoundWindowExpression &window) {
	static const unordered_set<string> NAMES{
		"sum",		"sum_no_overflow", "count",		   "count_star", "min",		"max",		"avg",
		"bool_and", "bool_or",		   "bit_and",	   "bit_or",	 "bit_xor", "count_if", "approx_count_distinct",
		"median",	"quantile_cont",   "quantile_disc"};
	return window.GetExpressionType() == ExpressionType::WINDOW_AGGREGATE && window.aggregate &&
		   NAMES.count(window.aggregate->name) > 0;
}

//! Without ORDER BY inside, a window sees the rows as they come. It may not matter: every row is a peer of every other
//! then, so that frames by RANGE or GROUPS hold all rows.
bool DependsOnArrival(const BoundWindowExpression &window) {
	if (!window.orders.empty()) {
		return false;
	}
	auto by_rows = [](WindowBoundary boundary) {
		return boundary == WindowBoundary::CURRENT_ROW_ROWS || boundary == WindowBoundary::EXPR_PRECEDING_ROWS ||
			   boundary == WindowBoundary::EXPR_FOLLOWING_ROWS;
	};
	switch (window.GetExpressionType()) {
	case ExpressionType::WINDOW_RANK:
	case ExpressionType::WINDOW_RANK_DENSE:
	case ExpressionType::WINDOW_PERCENT_RANK:
	case ExpressionType::WINDOW_CUME_DIST:
		return false;
	default:
		return !IgnoresOrder(window) || by_rows(window.start) || by_rows(window.end) ||
			   window.exclude_clause != WindowExcludeMode::NO_OTHER;
	}
}

//! The places of the windows that have a partition key in common, so that they can be computed together; those over all
//! rows come last.
vector<vector<idx_t>> ByPartitions(const LogicalOperator &op) {
	vector<vector<idx_t>> result;
	vector<idx_t> over_all;
	vector<vector<reference<const Expression>>> common;
	for (idx_t i = 0; i < op.expressions.size(); i++) {
		auto &partitions = op.expressions[i]->Cast<BoundWindowExpression>().partitions;
		if (partitions.empty()) {
			over_all.push_back(i);
			continue;
		}
		auto joined = false;
		for (idx_t group = 0; group < result.size() && !joined; group++) {
			vector<reference<const Expression>> shared;
			for (auto &key : common[group]) {
				if (std::any_of(partitions.begin(), partitions.end(),
								[&](auto &other) { return other->Equals(key.get()); })) {
					shared.push_back(key);
				}
			}
			if (!shared.empty()) {
				result[group].push_back(i);
				common[group] = std::move(shared);
				joined = true;
			}
		}
		if (!joined) {
			result.push_back({i});
			common.emplace_back();
			for (auto &key : partitions) {
				common.back().push_back(*key);
			}
		}
	}
	if (!over_all.empty()) {
		result.push_back(std::move(over_all));
	}
	return result;
}

//! Windows see all rows of their partition: rows are brought together by the partition keys that all windows share.
//!
//!     Window[partition by k]          Window[partition by k]
//!       ...                     =>      NetworkShuffle[k]
//!                                         ...
//!
//! A window over all rows runs in one task, and so does one whose result depends on the order in which its rows come,
//! as row_number() without ORDER BY does, if that order is to be kept. Rows come out in the order in which they went in
//! only where OVER is empty.
class WindowRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_WINDOW;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto groups = ByPartitions(*op);
		if (groups.size() > 1 && CommonPartitions(*op).empty()) {
			return PlaceApart(placement, op, groups, keep_order);
		}
		return PlaceTogether(placement, op, keep_order);
	}

private:
	//! Windows that have no partition key in common are computed one after the other.
	//!
	//!     Window[partition by a; partition by b]          Project
	//!       ...                                    =>       Window[partition by b]
	//!                                                         NetworkShuffle[b]
	//!                                                           Window[partition by a]
	//!                                                             NetworkShuffle[a]
	//!                                                               ...
	static Distribution PlaceApart(Placement &placement, unique_ptr<LogicalOperator> &op,
								   const vector<vector<idx_t>> &groups, bool keep_order) {
		auto names = op->GetColumnBindings();
		auto windows = std::move(op);
		auto columns = windows->children[0]->GetColumnBindings();
		auto first_window = columns.size();
		columns.resize(names.size());
		op = std::move(windows->children[0]);
		for (auto &group : groups) {
			auto one = make_uniq<LogicalWindow>(placement.NewTableIndex());
			for (auto i : group) {
				columns[first_window + i] = ColumnBinding(one->window_index, one->expressions.size());
				one->expressions.push_back(std::move(windows->expressions[i]));
			}
			if (windows->has_estimated_cardinality) {
				one->SetEstimatedCardinality(windows->estimated_cardinality);
			}
			one->children.push_back(std::move(op));
			op = std::move(one);
		}
		op->ResolveOperatorTypes();
		auto place = placement.Place(op, keep_order);
		// What is read may have got other names; the operators above know them already.
		auto placed = op->GetColumnBindings();
		for (idx_t i = 0; i < first_window; i++) {
			columns[i] = names[i] = placed[i];
		}
		return placement.Project(op, columns, names, std::move(place));
	}

	static Distribution PlaceTogether(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) {
		auto &child = op->children[0];
		auto ordered = false;
		auto empty = true;
		for (auto &expression : op->expressions) {
			auto &window = expression->Cast<BoundWindowExpression>();
			ordered = ordered || DependsOnArrival(window);
			empty = empty && window.partitions.empty() && window.orders.empty();
		}
		ordered = placement.Options().preserve_order && (ordered || (empty && keep_order));
		auto below = placement.Place(child, ordered, Prefer(Columns(CommonPartitions(*op)), placement.Preferred()));
		if (!below.IsSpread()) {
			below.in_order = below.in_order && empty;
			return below;
		}
		auto keys = CommonPartitions(*op);
		auto columns = Columns(keys);
		auto in_place = Rename(below, columns, columns);
		if (below.pinned || in_place.IsPartitioned()) {
			below.in_order = false;
			return below;
		}
		if (!ordered && KeepTogether(placement.Context(), placement.Options(), in_place)) {
			return in_place;
		}
		if (keys.empty() || ordered) {
			placement.AddReason("a window over all rows, or in their order, is computed in one task");
			auto result = placement.Coalesce(child, below);
			result.in_order = result.in_order && empty;
			return result;
		}
		return placement.Shuffle(child, std::move(keys));
	}
};

} // namespace

unique_ptr<PlacementRule> MakeWindowRule() {
	return make_uniq<WindowRule>();
}

} // namespace skein
