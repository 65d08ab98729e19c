#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_cteref.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "plan/columns.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "planner/rules/full_join.hpp"
#include "planner/rules/join_by_value.hpp"
#include "planner/rules/join_filters.hpp"
#include "planner/rules/join_sides.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Up to so many bytes, as estimated, a small table is read by every task without a look at the other side.
constexpr double SMALL_TABLE_BYTES = 4 << 20;

//! How the two sides of a join are brought together.
enum class JoinPlan : uint8_t { IN_PLACE, BY_VALUE, BROADCAST_RIGHT, BROADCAST_LEFT, SHUFFLE, ONE_TASK };

struct JoinSides {
	Distribution left;
	Distribution right;
	EquiKeys keys;
	JoinType type;
	//! The conditions that the keys of a side's distribution are, if it is partitioned by join keys.
	vector<idx_t> left_match;
	vector<idx_t> right_match;
	bool left_partitioned;
	bool right_partitioned;
	//! How the leaves of both sides can be dealt alike, if they can.
	std::optional<JoinByValue> by_value;
};

//! Joins rows where equal keys are: in place if both sides are partitioned alike, or their leaves can be dealt alike,
//! after one side has been sent to all tasks of the other, or after both have been shuffled by the join keys.
//!
//!     Join[l.k = r.k]          Join[l.k = r.k]             Join[l.k = r.k]
//!       l                =>      NetworkShuffle[l.k]   or    l
//!       r                          l                         NetworkBroadcast
//!                                NetworkShuffle[r.k]           r
//!                                  r
//!
//! If both sides are shuffled, rows of the left side whose keys are not on the right are left out before they are sent,
//! where the join returns nothing for them.
//!
//! A side is broadcast only if the join returns no rows for the lack of a match there; the left side of an ASOF join
//! never, as the best match for its rows is among all rows of the right side. Positional joins are not matched.
class JoinRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_COMPARISON_JOIN ||
			   op.type == LogicalOperatorType::LOGICAL_ANY_JOIN || op.type == LogicalOperatorType::LOGICAL_ASOF_JOIN ||
			   op.type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		JoinSides sides;
		// With one row on the right, as for LIMIT (SELECT ...), a cross product returns the left side's rows in their
		// order.
		auto ordered = keep_order && op->type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT;
		sides.type = JoinTypeOf(*op);
		auto preferences = Preferences(placement, *op);
		sides.left = placement.Place(op->children[0], ordered, std::move(preferences.left));
		sides.right = placement.Place(op->children[1], false, std::move(preferences.right));
		sides.keys = EquiKeysOf(*op);
		sides.left_partitioned = sides.keys.Match(sides.left, true, sides.left_match);
		sides.right_partitioned = sides.keys.Match(sides.right, false, sides.right_match);
		auto pinned = sides.left.pinned || sides.right.pinned;
		if (MayPartition(sides.type) && placement.Options().join != JoinStrategy::BROADCAST) {
			sides.by_value = FindJoinByValue(sides.keys, sides.left, sides.right, placement.Options());
		}
		auto costs = CostsOf(placement, *op);
		auto plan = Choose(placement, *op, sides, costs);
		if (plan == JoinPlan::ONE_TASK && !pinned && CanDivideFullJoin(*op)) {
			return PlaceFullJoin(placement, op, std::move(sides.left), std::move(sides.right));
		}
		auto in_order =
			ordered && sides.left.in_order && (plan == JoinPlan::IN_PLACE || plan == JoinPlan::BROADCAST_RIGHT);
		auto result = Execute(placement, *op, sides, plan);
		NoteEstimates(*op, costs, plan);
		result.pinned = pinned;
		result.in_order = in_order;
		return result;
	}

private:
	//! By which columns the sides had better be partitioned.
	struct SidePreferences {
		vector<ColumnBinding> left;
		vector<ColumnBinding> right;
	};

	//! A side that is likely to stay where it is, as the other is broadcast, is for the reader of the join; two that
	//! are shuffled, for the join.
	static SidePreferences Preferences(Placement &placement, LogicalOperator &op) {
		SidePreferences result;
		auto keys = EquiKeysOf(op);
		auto type = JoinTypeOf(op);
		auto costs = CostsOf(placement, op);
		if (keys.Empty() || !MayPartition(type) || (MayBroadcastRight(type) && costs.RightPays(costs.Shuffle()))) {
			auto left = op.children[0]->GetColumnBindings();
			result.left = Renamed(placement.Preferred(), left, left);
			return result;
		}
		if (MayBroadcastLeft(type) && costs.LeftPays(costs.Shuffle())) {
			auto right = op.children[1]->GetColumnBindings();
			result.right = Renamed(placement.Preferred(), right, right);
			return result;
		}
		auto conditions = PreferredConditions(placement, keys);
		result.left = Columns(keys.CopyLeft(conditions));
		result.right = Columns(keys.CopyRight(conditions));
		return result;
	}

	//! The conditions on whose columns the reader of the join wants its rows to be partitioned; all if there are none,
	//! or none that may have many values.
	static vector<idx_t> PreferredConditions(Placement &placement, const EquiKeys &keys) {
		vector<idx_t> result;
		for (auto &column : placement.Preferred()) {
			for (auto on_left : {true, false}) {
				auto condition = keys.Find({column}, on_left);
				if (condition.IsValid()) {
					auto known = std::find(result.begin(), result.end(), condition.GetIndex()) != result.end();
					if (!known) {
						result.push_back(condition.GetIndex());
					}
					break;
				}
			}
		}
		auto many = std::any_of(result.begin(), result.end(), [&](idx_t condition) {
			return GetTypeIdSize(keys.left[condition].get().return_type.InternalType()) > 1;
		});
		return many ? result : keys.All();
	}

	//! What it takes to bring the sides of a join together, in bytes that are moved or hashed.
	struct JoinCosts {
		double left;
		double right;
		double tasks;
		double limit;

		double Shuffle() const {
			return left + right;
		}
		//! A broadcast side is received, and for the right side hashed, once per task.
		double BroadcastRight() const {
			return 2 * tasks * right;
		}
		double BroadcastLeft() const {
			return 2 * tasks * left;
		}
		bool RightPays(double shuffle) const {
			return right <= limit && BroadcastRight() <= shuffle;
		}
		bool LeftPays(double shuffle) const {
			return left <= limit && BroadcastLeft() <= shuffle;
		}
	};

	static JoinCosts CostsOf(Placement &placement, LogicalOperator &op) {
		return {placement.EstimateBytes(*op.children[0]), placement.EstimateBytes(*op.children[1]),
				static_cast<double>(placement.Options().max_tasks),
				static_cast<double>(placement.Options().broadcast_limit)};
	}

	static JoinPlan Choose(Placement &placement, LogicalOperator &op, const JoinSides &sides, const JoinCosts &costs) {
		if (!sides.left.IsSpread() && !sides.right.IsSpread()) {
			return JoinPlan::IN_PLACE;
		}
		auto may_broadcast_right = MayBroadcastRight(sides.type) && sides.left.IsSpread() && !sides.right.pinned;
		auto may_broadcast_left = MayBroadcastLeft(sides.type) && sides.right.IsSpread() && !sides.left.pinned &&
								  op.type != LogicalOperatorType::LOGICAL_ASOF_JOIN;
		if ((sides.left.pinned && sides.left.IsSingle()) || (sides.right.pinned && sides.right.IsSingle())) {
			return JoinPlan::ONE_TASK;
		}
		if (sides.left.pinned && sides.right.pinned) {
			return JoinPlan::IN_PLACE;
		}
		auto aligned = sides.left_partitioned && sides.right_partitioned && sides.left_match == sides.right_match;
		auto may_shuffle = MayPartition(sides.type) && !sides.keys.Empty() &&
						   (!sides.left.pinned || sides.left_partitioned) &&
						   (!sides.right.pinned || sides.right_partitioned);
		if (aligned && MayPartition(sides.type)) {
			return JoinPlan::IN_PLACE;
		}
		auto strategy = placement.Options().join;
		if (may_shuffle && strategy == JoinStrategy::SHUFFLE) {
			return sides.by_value ? JoinPlan::BY_VALUE : JoinPlan::SHUFFLE;
		}
		auto shuffle_cost = (sides.left_partitioned ? 0 : costs.left) +
							(sides.right_partitioned && !sides.left_partitioned ? 0 : costs.right);
		// Estimates of what joins leave of a large side are often far too low; what a small table is, is known.
		if (may_broadcast_right && !sides.left_partitioned &&
			IsSmallTableBeside(placement, *op.children[1], *op.children[0])) {
			return JoinPlan::BROADCAST_RIGHT;
		}
		if (may_broadcast_left && !sides.right_partitioned &&
			IsSmallTableBeside(placement, *op.children[0], *op.children[1])) {
			return JoinPlan::BROADCAST_LEFT;
		}
		if (sides.by_value) {
			return JoinPlan::BY_VALUE;
		}
		auto prefer_broadcast = !may_shuffle || strategy == JoinStrategy::BROADCAST;
		auto right_pays = may_broadcast_right && (prefer_broadcast || costs.RightPays(shuffle_cost));
		auto left_pays = may_broadcast_left && (prefer_broadcast || costs.LeftPays(shuffle_cost));
		if (right_pays && (!left_pays || costs.BroadcastRight() <= costs.BroadcastLeft())) {
			return JoinPlan::BROADCAST_RIGHT;
		}
		if (left_pays) {
			return JoinPlan::BROADCAST_LEFT;
		}
		return may_shuffle ? JoinPlan::SHUFFLE : JoinPlan::ONE_TASK;
	}

	//! Whether every task may as well read these rows for itself, which no join has made more, as the other side is
	//! made of more.
	static bool IsSmallTableBeside(Placement &placement, LogicalOperator &op, const LogicalOperator &other) {
		reference<LogicalOperator> table = op;
		while (table.get().children.size() == 1) {
			table = *table.get().children[0];
		}
		return table.get().children.empty() && placement.EstimateBytes(op) <= SMALL_TABLE_BYTES &&
			   placement.IsReadByEveryTask(op) && LeafBytes(placement, op) < LeafBytes(placement, other);
	}

	//! What the leaves below `op` read of files.
	static idx_t LeafBytes(const Placement &placement, const LogicalOperator &op) {
		if (auto leaf = dynamic_cast<const LogicalDistributedLeaf *>(&op)) {
			return leaf->total_bytes;
		}
		if (op.type == LogicalOperatorType::LOGICAL_CTE_REF) {
			auto shared = placement.shared.find(op.Cast<LogicalCTERef>().cte_index);
			return shared == placement.shared.end() ? 0 : LeafBytes(placement, *shared->second.plan);
		}
		idx_t result = 0;
		for (auto &child : op.children) {
			result += LeafBytes(placement, *child);
		}
		return result;
	}

	//! Tells the boundaries that the join has made what they were made for.
	static void NoteEstimates(LogicalOperator &op, const JoinCosts &costs, JoinPlan plan) {
		auto note = [](LogicalOperator &side, double bytes) {
			auto exchange = LogicalExchange::From(side);
			if (exchange && !exchange->estimated_bytes) {
				exchange->estimated_bytes = static_cast<uint64_t>(bytes);
			}
		};
		if (plan == JoinPlan::SHUFFLE || plan == JoinPlan::BROADCAST_LEFT) {
			note(*op.children[0], costs.left);
		}
		if (plan == JoinPlan::SHUFFLE || plan == JoinPlan::BROADCAST_RIGHT) {
			note(*op.children[1], costs.right);
		}
	}

	static Distribution Execute(Placement &placement, LogicalOperator &op, JoinSides &sides, JoinPlan plan) {
		auto &left = op.children[0];
		auto &right = op.children[1];
		switch (plan) {
		case JoinPlan::IN_PLACE:
			return InPlace(sides);
		case JoinPlan::BY_VALUE:
			sides.by_value->dealing->Apply(placement.Context(), placement.Options());
			return Partitioned(sides, sides.by_value->conditions, sides.by_value->dealing);
		case JoinPlan::BROADCAST_RIGHT:
			placement.Broadcast(right, sides.right);
			FilterBroadcast(placement, op, sides.type);
			return WithEqualColumns(sides, sides.left);
		case JoinPlan::BROADCAST_LEFT:
			placement.Broadcast(left, sides.left);
			return WithEqualColumns(sides, sides.right);
		case JoinPlan::SHUFFLE: {
			// A side that is partitioned by join keys stays; the other follows it.
			vector<idx_t> conditions;
			if (sides.left_partitioned && (sides.left.pinned || !sides.right.pinned)) {
				conditions = sides.left_match;
				sides.right = placement.Shuffle(right, sides.keys.CopyRight(conditions));
				// Rows that a correlated subquery is about come before the subquery's own; other left sides come later.
				if (sides.left.pinned && MayFilterRight(sides.type)) {
					FilterShuffle(*right, sides.left.boundary);
				}
			} else if (sides.right_partitioned) {
				conditions = sides.right_match;
				sides.left = placement.Shuffle(left, sides.keys.CopyLeft(conditions));
				if (MayFilterLeft(sides.type)) {
					FilterLeft(placement, op, sides.right.boundary);
				}
			} else {
				conditions = PreferredConditions(placement, sides.keys);
				sides.left = placement.Shuffle(left, sides.keys.CopyLeft(conditions));
				sides.right = placement.Shuffle(right, sides.keys.CopyRight(conditions));
				if (MayFilterLeft(sides.type)) {
					FilterLeft(placement, op, LogicalExchange::From(*right));
				}
			}
			return Partitioned(sides, conditions);
		}
		case JoinPlan::ONE_TASK: {
			placement.AddReason("a join whose sides can be neither replicated nor partitioned runs in one task");
			auto result = placement.Coalesce(left, sides.left);
			result.session = placement.Coalesce(right, sides.right).session || result.session;
			result.replicable = false;
			return result;
		}
		}
		throw InternalException("Unknown plan of a join");
	}

	static Distribution InPlace(const JoinSides &sides) {
		if (sides.left.IsSpread() && sides.right.IsSpread()) {
			return sides.left_partitioned ? Partitioned(sides, sides.left_match) : Distribution::Arbitrary();
		}
		auto result = sides.left;
		result.session = sides.left.session || sides.right.session;
		result.replicable = sides.left.replicable && sides.right.replicable;
		return result;
	}

	//! The distribution of a join whose sides are both partitioned by these conditions: hashed, or dealt by value.
	static Distribution Partitioned(const JoinSides &sides, const vector<idx_t> &conditions,
									std::shared_ptr<PartitionDealing> dealing = nullptr) {
		auto left_keys = MayBroadcastRight(sides.type);
		auto right_keys = MayBroadcastLeft(sides.type);
		vector<EquivalentColumns> keys;
		for (auto i : conditions) {
			EquivalentColumns columns;
			AddColumn(columns, sides.keys.left[i], left_keys);
			AddColumn(columns, sides.keys.right[i], right_keys);
			if (columns.empty()) {
				return Distribution::Arbitrary();
			}
			keys.push_back(std::move(columns));
		}
		if (dealing) {
			return Distribution::ByValue(std::move(keys), std::move(dealing));
		}
		auto result = Distribution::Hash(std::move(keys));
		result.boundary = left_keys ? sides.left.boundary : sides.right.boundary;
		return result;
	}

	static void AddColumn(EquivalentColumns &columns, const Expression &key, bool valid) {
		if (valid && key.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
			columns.push_back(key.Cast<BoundColumnRefExpression>().binding);
		}
	}

	//! An inner join makes the columns that it compares equal, so that either names the partitioning.
	static Distribution WithEqualColumns(const JoinSides &sides, Distribution distribution) {
		if (sides.type != JoinType::INNER) {
			return distribution;
		}
		for (auto &key : distribution.keys) {
			AddEqualColumn(sides, key);
		}
		for (auto &column : distribution.offer.columns) {
			AddEqualColumn(sides, column.names);
		}
		return distribution;
	}

	static void AddEqualColumn(const JoinSides &sides, EquivalentColumns &key) {
		auto left = sides.keys.Find(key, true);
		if (left.IsValid()) {
			AddColumn(key, sides.keys.right[left.GetIndex()], true);
			return;
		}
		auto right = sides.keys.Find(key, false);
		if (right.IsValid()) {
			AddColumn(key, sides.keys.left[right.GetIndex()], true);
		}
	}
};

} // namespace

unique_ptr<PlacementRule> MakeJoinRule() {
	return make_uniq<JoinRule>();
}

} // namespace skein
