#include "duckdb/planner/expression/bound_window_expression.hpp"
#include "duckdb/planner/operator/logical_delim_get.hpp"
#include "duckdb/planner/operator/logical_window.hpp"
#include "plan/columns.hpp"
#include "planner/rules/aggregate_steps.hpp"
#include "planner/rules/join_sides.hpp"
#include "planner/rules/row_functions.hpp"
#include "planner/rules/rules.hpp"

#include <map>
#include <set>

namespace skein {

using namespace duckdb;

namespace {

//! The table index under which delim_gets holds the position of a duplicate-eliminated column.
constexpr idx_t POSITION_INDEX = DConstants::INVALID_INDEX;

bool ContainsDelimGet(const LogicalOperator &op) {
	if (op.type == LogicalOperatorType::LOGICAL_DELIM_GET) {
		return true;
	}
	for (auto &child : op.children) {
		if (ContainsDelimGet(*child)) {
			return true;
		}
	}
	return false;
}

//! Whether `op` reads a CTE that is computed in the task which runs what is around, neither shared nor defined in it.
bool ReadsFixedCte(const Placement &placement, const LogicalOperator &op, std::set<idx_t> defined = {}) {
	if (op.type == LogicalOperatorType::LOGICAL_CTE_REF) {
		auto index = op.Cast<LogicalCTERef>().cte_index;
		return placement.shared.find(index) == placement.shared.end() && defined.count(index) == 0;
	}
	if (op.type == LogicalOperatorType::LOGICAL_MATERIALIZED_CTE ||
		op.type == LogicalOperatorType::LOGICAL_RECURSIVE_CTE) {
		defined.insert(op.GetTableIndex()[0]);
	}
	return std::any_of(op.children.begin(), op.children.end(),
					   [&](auto &child) { return ReadsFixedCte(placement, *child, defined); });
}

//! Looks at the operators between the reads of the duplicate-eliminated side and the delim join: whether they can all
//! stay in one stage, and by which of the columns their other inputs can be partitioned.
class DelimPath {
public:
	DelimPath(Placement &placement) : placement_(placement) {
	}

	//! False if an operator on the path must see rows of several tasks, or can only run in the session.
	bool Walk(LogicalOperator &op) {
		string reason;
		if (!placement_.CanTravel(op, reason)) {
			return false;
		}
		switch (op.type) {
		case LogicalOperatorType::LOGICAL_DELIM_GET: {
			auto &get = op.Cast<LogicalDelimGet>();
			for (idx_t i = 0; i < get.chunk_types.size(); i++) {
				positions_[{get.table_index, i}] = i;
			}
			return true;
		}
		case LogicalOperatorType::LOGICAL_FILTER:
		case LogicalOperatorType::LOGICAL_UNNEST:
			return Walk(*op.children[0]);
		case LogicalOperatorType::LOGICAL_GET:
			return IsCalledPerRow(op) && Walk(*op.children[0]);
		case LogicalOperatorType::LOGICAL_WINDOW:
			// Every window of a correlated subquery is partitioned by the columns of the duplicate-eliminated side.
			return Walk(*op.children[0]);
		case LogicalOperatorType::LOGICAL_PROJECTION:
			return Walk(*op.children[0]) && RenameColumns(op.expressions, op.GetColumnBindings());
		case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY: {
			auto &aggregate = op.Cast<LogicalAggregate>();
			if (aggregate.groups.empty() || HasGroupingSets(aggregate) || !Walk(*op.children[0])) {
				return false;
			}
			auto bindings = LogicalOperator::GenerateColumnBindings(aggregate.group_index, aggregate.groups.size());
			return RenameColumns(aggregate.groups, bindings);
		}
		case LogicalOperatorType::LOGICAL_UNION:
			return std::all_of(op.children.begin(), op.children.end(),
							   [&](auto &child) { return ContainsDelimGet(*child) && Walk(*child); });
		case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
		case LogicalOperatorType::LOGICAL_ANY_JOIN:
		case LogicalOperatorType::LOGICAL_CROSS_PRODUCT:
			return WalkJoin(op);
		default:
			return false;
		}
	}

	//! The columns by which the largest of the other inputs can be partitioned; none if it cannot be, or there is none.
	std::set<idx_t> Columns() const {
		auto largest = std::max_element(others_.begin(), others_.end(),
										[](const Other &left, const Other &right) { return left.bytes < right.bytes; });
		return largest == others_.end() ? std::set<idx_t>() : largest->columns;
	}
	//! Bytes that move if the other inputs follow `columns` where they can and are broadcast to `tasks` tasks
	//! elsewhere.
	double MovedBytes(const std::set<idx_t> &columns, double tasks) const {
		double result = 0;
		for (auto &other : others_) {
			auto follows = !columns.empty() &&
						   std::includes(other.columns.begin(), other.columns.end(), columns.begin(), columns.end());
			result += follows ? other.bytes : 2 * tasks * other.bytes;
		}
		return result;
	}

private:
	bool WalkJoin(LogicalOperator &join) {
		auto left = ContainsDelimGet(*join.children[0]);
		auto right = ContainsDelimGet(*join.children[1]);
		if ((left && !Walk(*join.children[0])) || (right && !Walk(*join.children[1]))) {
			return false;
		}
		if (left && right) {
			return true;
		}
		auto type = JoinTypeOf(join);
		if (left ? !MayBroadcastRight(type) : !MayBroadcastLeft(type)) {
			return false;
		}
		if (ReadsFixedCte(placement_, *join.children[left ? 1 : 0])) {
			return false;
		}
		Other other;
		other.bytes = placement_.EstimateBytes(*join.children[left ? 1 : 0]);
		auto keys = EquiKeysOf(join);
		if (MayPartition(type)) {
			for (auto &key : left ? keys.left : keys.right) {
				if (key.get().GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF) {
					continue;
				}
				auto entry = positions_.find(Name(key.get().Cast<BoundColumnRefExpression>().binding));
				if (entry != positions_.end()) {
					other.columns.insert(entry->second);
				}
			}
		}
		others_.push_back(std::move(other));
		return true;
	}

	bool RenameColumns(const vector<unique_ptr<Expression>> &expressions, const vector<ColumnBinding> &bindings) {
		for (idx_t i = 0; i < expressions.size(); i++) {
			if (expressions[i]->GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF) {
				continue;
			}
			auto entry = positions_.find(Name(expressions[i]->Cast<BoundColumnRefExpression>().binding));
			if (entry != positions_.end()) {
				positions_[Name(bindings[i])] = entry->second;
			}
		}
		return true;
	}

	static std::pair<idx_t, idx_t> Name(const ColumnBinding &binding) {
		return {binding.table_index, binding.column_index};
	}

	Placement &placement_;
	//! The position of the duplicate-eliminated column that a column of the path is.
	std::map<std::pair<idx_t, idx_t>, idx_t> positions_;
	//! An input that is joined with the duplicate-eliminated rows, and the columns of these that its keys equal.
	struct Other {
		double bytes = 0;
		std::set<idx_t> columns;
	};
	vector<Other> others_;
};

//! A correlated subquery: the distinct values of some columns of one side are read by the other side, and both are
//! joined. Everything between the join and these reads stays in one stage, where each task works on the values of its
//! own rows.
//!
//!     DelimJoin[o.k = s.k]            DelimJoin[o.k = s.k]
//!       o                               NetworkShuffle[o.k]
//!       Aggregate[s.k]          =>        o
//!         Join[s.k = d.k]               Aggregate[s.k]
//!           s                             Join[s.k = d.k]
//!           DelimGet[d.k]                   NetworkShuffle[s.k]
//!                                             s
//!                                           DelimGet[d.k]
//!
//! If the other inputs of the subquery are small, or cannot be partitioned alike, they are broadcast and `o` stays
//! where it is. If an operator of the subquery must see rows of several tasks, all runs in one.
class DelimJoinRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_DELIM_JOIN;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &join = op->Cast<LogicalComparisonJoin>();
		auto &outer = op->children[join.delim_flipped ? 1 : 0];
		auto &inner = op->children[join.delim_flipped ? 0 : 1];
		DelimPath path(placement);
		auto one_stage = ContainsDelimGet(*inner) && path.Walk(*inner);
		auto reads_fixed_cte = ReadsFixedCte(placement, *inner);
		auto numbered = one_stage && NumbersRows(*outer) && !placement.IsReadAbove(NumberColumn(*outer));
		// Numbers that only tell the rows of a task apart are given there.
		auto outer_place = placement.Place(numbered ? outer->children[0] : outer, false);
		if (!one_stage) {
			placement.AddReason("a correlated subquery that needs rows of several tasks at a time runs in one");
			outer_place = placement.Coalesce(outer, outer_place);
		} else if (outer_place.IsSpread() && !outer_place.pinned && !numbered) {
			outer_place = Partition(placement, join, outer, std::move(outer_place), path);
		}
		placement.delim_gets.push_back(DelimGetPlace(join, outer_place));
		auto inner_place = placement.Place(inner, false);
		placement.delim_gets.pop_back();
		if (outer_place.IsSingle()) {
			outer_place.session = placement.Coalesce(inner, inner_place).session || outer_place.session;
			outer_place.replicable = false;
		}
		outer_place.pinned = outer_place.pinned || reads_fixed_cte;
		outer_place.in_order = false;
		auto returns_outer = join.delim_flipped ? MayBroadcastLeft(join.join_type) : MayBroadcastRight(join.join_type);
		outer_place.offer = {};
		if (outer_place.IsPartitioned() && !returns_outer) {
			outer_place.ForgetKeys();
		}
		return outer_place;
	}

private:
	//! Whether `op` gives each row a number, as the outer side of a delim join does whose columns cannot be compared.
	static bool NumbersRows(const LogicalOperator &op) {
		if (op.type != LogicalOperatorType::LOGICAL_WINDOW || op.expressions.size() != 1) {
			return false;
		}
		auto &window = op.expressions[0]->Cast<BoundWindowExpression>();
		return window.GetExpressionType() == ExpressionType::WINDOW_ROW_NUMBER && window.partitions.empty() &&
			   window.orders.empty();
	}
	static ColumnBinding NumberColumn(const LogicalOperator &op) {
		return ColumnBinding(op.Cast<LogicalWindow>().window_index, 0);
	}

	//! Shuffles the outer side by those of its columns by which the subquery's inputs can follow, if that is cheaper
	//! than to broadcast them.
	static Distribution Partition(Placement &placement, LogicalComparisonJoin &join, unique_ptr<LogicalOperator> &outer,
								  Distribution place, const DelimPath &path) {
		auto &options = placement.Options();
		auto columns = path.Columns();
		vector<ColumnBinding> usable;
		for (auto column : columns) {
			auto &expression = *join.duplicate_eliminated_columns[column];
			if (expression.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
				usable.push_back(expression.Cast<BoundColumnRefExpression>().binding);
			}
		}
		auto partitioned = Rename(place, usable, usable);
		if (usable.empty() || options.join == JoinStrategy::BROADCAST || partitioned.kind == DistributionKind::HASH) {
			return place;
		}
		auto tasks = static_cast<double>(options.max_tasks);
		auto broadcast_cost = path.MovedBytes({}, tasks);
		auto shuffle_cost = placement.EstimateBytes(*outer) + path.MovedBytes(columns, tasks);
		if (options.join == JoinStrategy::AUTO && broadcast_cost <= shuffle_cost) {
			return place;
		}
		vector<unique_ptr<Expression>> keys;
		for (auto column : columns) {
			if (join.duplicate_eliminated_columns[column]->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
				keys.push_back(join.duplicate_eliminated_columns[column]->Copy());
			}
		}
		return placement.Shuffle(outer, std::move(keys));
	}

	//! The distribution of the duplicate-eliminated reads, with the positions of the columns for bindings.
	static Distribution DelimGetPlace(LogicalComparisonJoin &join, const Distribution &outer) {
		vector<ColumnBinding> from, to;
		for (idx_t i = 0; i < join.duplicate_eliminated_columns.size(); i++) {
			auto &column = *join.duplicate_eliminated_columns[i];
			if (column.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
				from.push_back(column.Cast<BoundColumnRefExpression>().binding);
				to.emplace_back(POSITION_INDEX, i);
			}
		}
		auto result = Rename(outer, from, to);
		result.offer = {};
		result.pinned = true;
		result.in_order = false;
		result.replicable = false;
		return result;
	}
};

//! Reads the distinct values of the rows that the delim join above has in the same task.
class DelimGetRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_DELIM_GET;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		if (placement.delim_gets.empty()) {
			throw InternalException("A duplicate-eliminated read outside of a delim join");
		}
		auto &get = op->Cast<LogicalDelimGet>();
		auto columns = get.GetColumnBindings();
		return Rename(placement.delim_gets.back(),
					  LogicalOperator::GenerateColumnBindings(POSITION_INDEX, columns.size()), columns);
	}
};

} // namespace

unique_ptr<PlacementRule> MakeDelimJoinRule() {
	return make_uniq<DelimJoinRule>();
}

unique_ptr<PlacementRule> MakeDelimGetRule() {
	return make_uniq<DelimGetRule>();
}

} // namespace skein
