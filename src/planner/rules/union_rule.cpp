#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"
#include "plan/columns.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "planner/leaf_shares.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

bool IsUnionAll(const LogicalOperator &op) {
	return op.type == LogicalOperatorType::LOGICAL_UNION && op.Cast<LogicalSetOperation>().setop_all;
}

//! Puts a copy of `projection` above one of the children of the union that it is above.
unique_ptr<LogicalOperator> ProjectChild(Placement &placement, const LogicalProjection &projection,
										 const vector<ColumnBinding> &names, unique_ptr<LogicalOperator> child) {
	auto expressions = CopyAll(projection.expressions);
	auto own_names = child->GetColumnBindings();
	for (auto &expression : expressions) {
		ReplaceColumns(expression, names, own_names);
	}
	AddProjection(child, placement.NewTableIndex(), std::move(expressions));
	return child;
}

//! Takes the children of a union that is itself a child of `op`, be it below projections, to the union's place.
//!
//!     UnionAll                 UnionAll
//!       a                        a
//!       Project[x + 1]    =>     Project[x + 1]
//!         UnionAll                 b
//!           b                    Project[x + 1]
//!           c                      c
void Flatten(Placement &placement, LogicalOperator &op) {
	vector<unique_ptr<LogicalOperator>> children;
	for (auto &child : op.children) {
		vector<unique_ptr<LogicalOperator>> projections;
		auto below = std::move(child);
		while (below->type == LogicalOperatorType::LOGICAL_PROJECTION && !below->children.empty()) {
			auto next = std::move(below->children[0]);
			projections.push_back(std::move(below));
			below = std::move(next);
		}
		if (!IsUnionAll(*below)) {
			for (auto it = projections.rbegin(); it != projections.rend(); ++it) {
				(*it)->children[0] = std::move(below);
				below = std::move(*it);
			}
			children.push_back(std::move(below));
			continue;
		}
		Flatten(placement, *below);
		auto names = below->GetColumnBindings();
		for (auto &part : below->children) {
			auto part_names = names;
			for (auto it = projections.rbegin(); it != projections.rend(); ++it) {
				auto &projection = (*it)->Cast<LogicalProjection>();
				part->ResolveOperatorTypes();
				part = ProjectChild(placement, projection, part_names, std::move(part));
				part_names =
					LogicalOperator::GenerateColumnBindings(projection.table_index, projection.expressions.size());
			}
			children.push_back(std::move(part));
		}
	}
	op.children = std::move(children);
}

//! UNION ALL: the tasks of a stage are dealt to the children. UNION is the same: the duplicates go in a DISTINCT above.
//!
//!     UnionAll             DistributedUnion: t0:[c0(0/2)] t1:[c0(1/2)] t2:[c1]
//!       a         =>         a
//!       b                    b
//!
//! In a correlated subquery all children are where the rows are that it is about, and so is the union. Children in one
//! task are dealt row by row to all tasks first. Where the order of rows counts, each child is brought
//! to the one task that puts them one after the other.
class UnionRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_UNION;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &set_operation = op->Cast<LogicalSetOperation>();
		auto ordered = keep_order && placement.Options().preserve_order;
		if (IsUnionAll(*op)) {
			Flatten(placement, *op);
		}
		vector<Distribution> places;
		auto spread = false;
		auto pinned = false;
		auto all_stay = true;
		for (auto &child : op->children) {
			places.push_back(placement.Place(child, keep_order));
			auto &place = places.back();
			spread = spread || place.IsSpread();
			pinned = pinned || place.pinned;
			all_stay = all_stay && place.pinned && place.IsSpread();
		}
		if (all_stay) {
			// Of a correlated subquery: each task has its own rows of every child.
			auto result = Distribution::Arbitrary();
			result.pinned = true;
			return result;
		}
		if (!spread || ordered || pinned) {
			return placement.BringTogether(*op, places);
		}
		for (idx_t i = 0; i < places.size(); i++) {
			if (!places[i].IsSpread()) {
				placement.Deal(op->children[i]);
			}
		}
		auto result = make_uniq<LogicalChildrenIsolatorUnion>(set_operation.table_index, std::move(op->children));
		result->SetEstimatedCardinality(set_operation.EstimateCardinality(placement.Context()));
		for (idx_t i = 0; i < result->children.size(); i++) {
			if (!HasBoundary(*result->children[i])) {
				result->isolated.push_back(i);
			}
		}
		op = std::move(result);
		return Distribution::Arbitrary();
	}
};

} // namespace

unique_ptr<PlacementRule> MakeUnionRule() {
	return make_uniq<UnionRule>();
}

} // namespace skein
