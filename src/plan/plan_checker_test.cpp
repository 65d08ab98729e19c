#include "plan/plan_checker.hpp"

#include "duckdb.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_dummy_scan.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/exchange.hpp"

#include <gtest/gtest.h>

#include <random>

namespace skein {
namespace {

using namespace duckdb;

unique_ptr<Expression> Column(idx_t table, idx_t column) {
	return make_uniq<BoundColumnRefExpression>(LogicalType::INTEGER, ColumnBinding(table, column));
}

unique_ptr<LogicalOperator> Projection(idx_t table, unique_ptr<Expression> expression,
									   unique_ptr<LogicalOperator> child) {
	vector<unique_ptr<Expression>> list;
	list.push_back(std::move(expression));
	auto result = make_uniq<LogicalProjection>(table, std::move(list));
	result->children.push_back(std::move(child));
	return result;
}

unique_ptr<LogicalOperator> Scan(idx_t table) {
	return make_uniq<LogicalDummyScan>(table);
}

TEST(PlanChecker, AcceptsColumnsOfTheChild) {
	auto plan = Projection(2, Column(1, 0), Scan(1));
	EXPECT_NO_THROW(CheckPlan(*plan));
}

TEST(PlanChecker, RefusesAColumnThatNobodyReturns) {
	auto plan = Projection(2, Column(7, 0), Scan(1));
	EXPECT_THROW(CheckPlan(*plan), InternalException);
}

TEST(PlanChecker, RefusesAColumnFromBelowAProjectionThatDropsIt) {
	auto plan = Projection(3, Column(1, 0), Projection(2, Column(1, 0), Scan(1)));
	EXPECT_THROW(CheckPlan(*plan), InternalException);
}

TEST(PlanChecker, RefusesKeysOfABroadcast) {
	vector<unique_ptr<Expression>> keys;
	keys.push_back(Column(1, 0));
	LogicalExchange exchange(ExchangeKind::BROADCAST, std::move(keys), Scan(1));
	EXPECT_THROW(CheckOperator(exchange), InternalException);
}

TEST(PlanChecker, RefusesAMergeWithoutAnOrder) {
	LogicalExchange exchange(ExchangeKind::COALESCE, {}, Scan(1));
	exchange.read_order = ReadOrder::MERGE;
	EXPECT_THROW(CheckOperator(exchange), InternalException);
}

TEST(PlanChecker, RefusesAShuffleThatIsReadInAnOrder) {
	LogicalExchange exchange(ExchangeKind::SHUFFLE, {}, Scan(1));
	exchange.read_order = ReadOrder::BY_TASK;
	EXPECT_THROW(CheckOperator(exchange), InternalException);
}

string Deal(const vector<UnionChild> &children, idx_t tasks) {
	vector<unique_ptr<LogicalOperator>> inputs;
	for (idx_t i = 0; i < children.size(); i++) {
		inputs.push_back(Scan(i));
	}
	LogicalChildrenIsolatorUnion node(100, std::move(inputs));
	for (idx_t i = 0; i < children.size(); i++) {
		node.isolated.push_back(i);
	}
	node.parts = DealUnionTasks(children, tasks);
	return node.Describe();
}

TEST(ChildrenIsolatorUnion, DealsTasksInProportionToTheBytes) {
	EXPECT_EQ(Deal({{400, 100}, {100, 100}}, 5), "t0:[c0(0/4)] t1:[c0(1/4)] t2:[c0(2/4)] t3:[c0(3/4)] t4:[c1]");
}

TEST(ChildrenIsolatorUnion, GivesEveryChildATask) {
	EXPECT_EQ(Deal({{1000, 100}, {0, 100}, {1, 1}}, 3), "t0:[c0] t1:[c1] t2:[c2]");
}

TEST(ChildrenIsolatorUnion, GivesNoMoreTasksThanAChildCanUse) {
	EXPECT_EQ(Deal({{1000, 1}, {1, 3}}, 4), "t0:[c0] t1:[c1(0/3)] t2:[c1(1/3)] t3:[c1(2/3)]");
}

TEST(ChildrenIsolatorUnion, PacksTheHeaviestChildIntoTheLightestTask) {
	EXPECT_EQ(Deal({{10, 1}, {50, 1}, {30, 1}, {20, 1}}, 2), "t0:[c0, c1] t1:[c2, c3]");
}

TEST(ChildrenIsolatorUnion, LeavesTasksEmptyWhenThereIsNothingToShare) {
	EXPECT_EQ(Deal({{5, 1}}, 3), "t0:[c0] t1:[] t2:[]");
}

TEST(ChildrenIsolatorUnion, RunsEveryPieceOfEveryChildOnce) {
	std::mt19937 random(7);
	for (int round = 0; round < 500; round++) {
		vector<UnionChild> children(1 + random() % 12);
		for (auto &child : children) {
			child = {random() % 1000, 1 + random() % 6};
		}
		auto parts = DealUnionTasks(children, 1 + random() % 16);
		vector<idx_t> seen(children.size()), shares(children.size());
		for (auto &task : parts) {
			for (auto &part : task) {
				EXPECT_LT(part.share, part.shares);
				EXPECT_LE(part.shares, children[part.child].max_shares);
				seen[part.child]++;
				shares[part.child] = part.shares;
			}
		}
		EXPECT_EQ(seen, shares);
	}
}

} // namespace
} // namespace skein
