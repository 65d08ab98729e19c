#include "metrics/stage_metrics_rewriter.hpp"

#include "duckdb/common/exception.hpp"
#include "plan/nodes/children_isolator_union.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using Kind = PlannedOperator::Kind;

PlannedOperator Operator(std::string name, std::vector<PlannedOperator> children) {
	PlannedOperator result;
	result.name = std::move(name);
	result.children = std::move(children);
	return result;
}

PlannedOperator Leaf(std::vector<size_t> operators_of_variants) {
	PlannedOperator result;
	result.kind = Kind::LEAF;
	for (auto count : operators_of_variants) {
		result.variants.push_back({"", std::nullopt, 0, count});
	}
	return result;
}

//! A chain of `depth` operators over a leaf of `pieces` pieces of one operator.
PlannedOperator Chain(size_t depth, size_t pieces) {
	auto result = Leaf(std::vector<size_t>(pieces, 1));
	for (size_t i = 0; i < depth; i++) {
		result = Operator("step", {std::move(result)});
	}
	return result;
}

//! A union whose tasks are dealt to children of these depths, all of them isolated, as the planner deals them.
PlannedOperator Union(const std::vector<size_t> &depths, const std::vector<duckdb::idx_t> &weights, size_t tasks) {
	duckdb::vector<UnionChild> children;
	for (auto weight : weights) {
		children.push_back({weight, tasks});
	}
	PlannedOperator result;
	result.kind = Kind::UNION;
	std::vector<size_t> pieces(depths.size(), 1);
	for (auto &parts : DealUnionTasks(children, tasks)) {
		result.parts.emplace_back();
		for (auto &part : parts) {
			result.parts.back().push_back({part.child, part.share});
			pieces[part.child] = part.shares;
		}
	}
	for (size_t child = 0; child < depths.size(); child++) {
		result.children.push_back(Chain(depths[child], pieces[child]));
	}
	return result;
}

//! What a task reports: rows are numbered from `first` on, in pre-order, each takes a microsecond.
std::vector<OperatorMetrics> Numbered(uint64_t first, size_t count) {
	std::vector<OperatorMetrics> result;
	for (size_t i = 0; i < count; i++) {
		result.push_back({first + i, 1, std::nullopt});
	}
	return result;
}

//! By task, the rows of an operator.
std::map<uint32_t, uint64_t> RowsOf(const PlannedOperator &op) {
	std::map<uint32_t, uint64_t> result;
	for (auto &[task, metrics] : op.measured) {
		result[task] = metrics.rows;
	}
	return result;
}

const PlannedOperator &LeafUnder(const PlannedOperator &op) {
	return op.kind == Kind::LEAF ? op : LeafUnder(op.children[0]);
}

using Rows = std::map<uint32_t, uint64_t>;

TEST(StageMetricsRewriterTest, AddsUpOperatorsThatAllTasksRun) {
	auto root = Operator("a", {Operator("b", {Leaf({1, 1})})});
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(1, Numbered(10, 3));
	rewriter.AddTask(0, Numbered(100, 3));
	EXPECT_EQ(RowsOf(root), (Rows{{0, 100}, {1, 10}}));
	EXPECT_EQ(RowsOf(root.children[0]), (Rows{{0, 101}, {1, 11}}));
	EXPECT_EQ(root.children[0].Total(), (OperatorMetrics{112, 2, std::nullopt}));
}

TEST(StageMetricsRewriterTest, TakesALeafForTheVariantOfTheTask) {
	auto root = Operator("join", {Leaf({1, 3}), Operator("filter", {Leaf({1, 1})})});
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(0, Numbered(100, 4));
	// The variant of task 1 has three operators: its root's rows, the time of all.
	rewriter.AddTask(1, Numbered(10, 6));
	EXPECT_EQ(root.children[0].measured.at(0), (OperatorMetrics{101, 1, std::nullopt}));
	EXPECT_EQ(root.children[0].measured.at(1), (OperatorMetrics{11, 3, std::nullopt}));
	EXPECT_EQ(RowsOf(root.children[1]), (Rows{{0, 102}, {1, 14}}));
	EXPECT_EQ(RowsOf(root.children[1].children[0]), (Rows{{0, 103}, {1, 15}}));
}

TEST(StageMetricsRewriterTest, AddsRowsReadOnlyWhereTheyAreCounted) {
	auto root = Leaf({2, 1, 1});
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(0, {{5, 1, std::nullopt}, {7, 1, 70}});
	rewriter.AddTask(1, {{6, 1, 60}});
	rewriter.AddTask(2, {{6, 1, std::nullopt}});
	EXPECT_EQ(root.measured.at(0), (OperatorMetrics{5, 2, 70}));
	EXPECT_EQ(root.measured.at(2).rows_read, std::nullopt);
	EXPECT_EQ(root.Total(), (OperatorMetrics{17, 4, 130}));
}

TEST(StageMetricsRewriterTest, ThreeTasksOfAUnionOfFiveChildrenOfDifferentDepth) {
	// Packed by weight: 50 to t0, 40 to t1, 30 to t2, 20 to t2, 10 to t1.
	auto root = Operator("top", {Union({0, 1, 2, 3, 4}, {50, 40, 30, 20, 10}, 3)});
	auto &node = root.children[0];
	ASSERT_EQ(node.parts, (std::vector<std::vector<PlannedPart>>{{{0, 0}}, {{1, 0}, {4, 0}}, {{2, 0}, {3, 0}}}));
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(0, Numbered(1000, 2 + 1));
	rewriter.AddTask(1, Numbered(2000, 2 + 2 + 5));
	rewriter.AddTask(2, Numbered(3000, 2 + 3 + 4));
	EXPECT_EQ(RowsOf(root), (Rows{{0, 1000}, {1, 2000}, {2, 3000}}));
	EXPECT_EQ(RowsOf(node), (Rows{{0, 1001}, {1, 2001}, {2, 3001}}));
	EXPECT_EQ(RowsOf(node.children[0]), (Rows{{0, 1002}}));
	EXPECT_EQ(RowsOf(node.children[1]), (Rows{{1, 2002}}));
	EXPECT_EQ(RowsOf(LeafUnder(node.children[1])), (Rows{{1, 2003}}));
	EXPECT_EQ(RowsOf(node.children[4]), (Rows{{1, 2004}}));
	EXPECT_EQ(RowsOf(LeafUnder(node.children[4])), (Rows{{1, 2008}}));
	EXPECT_EQ(RowsOf(node.children[2]), (Rows{{2, 3002}}));
	EXPECT_EQ(RowsOf(node.children[3]), (Rows{{2, 3005}}));
	EXPECT_EQ(RowsOf(LeafUnder(node.children[3])), (Rows{{2, 3008}}));
}

TEST(StageMetricsRewriterTest, FiveTasksOfAUnionOfTwoChildrenOfDifferentDepth) {
	// Three tasks for the child of 60 bytes, two for that of 40.
	auto root = Union({1, 3}, {60, 40}, 5);
	ASSERT_EQ(root.parts, (std::vector<std::vector<PlannedPart>>{{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}}}));
	StageMetricsRewriter rewriter(root);
	for (uint32_t task = 0; task < 5; task++) {
		rewriter.AddTask(task, Numbered(100 * task, 1 + (task < 3 ? 2 : 4)));
	}
	EXPECT_EQ(RowsOf(root), (Rows{{0, 0}, {1, 100}, {2, 200}, {3, 300}, {4, 400}}));
	EXPECT_EQ(RowsOf(root.children[0]), (Rows{{0, 1}, {1, 101}, {2, 201}}));
	EXPECT_EQ(RowsOf(root.children[1]), (Rows{{3, 301}, {4, 401}}));
	EXPECT_EQ(RowsOf(LeafUnder(root.children[0])), (Rows{{0, 2}, {1, 102}, {2, 202}}));
	EXPECT_EQ(RowsOf(LeafUnder(root.children[1])), (Rows{{3, 304}, {4, 404}}));
	EXPECT_EQ(LeafUnder(root.children[1]).pieces, (std::map<uint32_t, size_t>{{3, 0}, {4, 1}}));
}

TEST(StageMetricsRewriterTest, AUnionThatEveryTaskRunsHasThePartsOfTheTask) {
	PlannedOperator inner = Union({0, 1}, {10, 10}, 2);
	PlannedOperator root;
	root.kind = Kind::UNION;
	// Not isolated: every task runs it, as the task that it is.
	root.parts = {{{0, 0}}, {{0, 1}}};
	root.children = {inner};
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(0, Numbered(10, 3));
	rewriter.AddTask(1, Numbered(20, 4));
	EXPECT_EQ(RowsOf(root.children[0]), (Rows{{0, 11}, {1, 21}}));
	EXPECT_EQ(RowsOf(root.children[0].children[0]), (Rows{{0, 12}}));
	EXPECT_EQ(RowsOf(root.children[0].children[1]), (Rows{{1, 22}}));
}

TEST(StageMetricsRewriterTest, AUnionInAUnionHasThePartsOfThePiece) {
	PlannedOperator root;
	root.kind = Kind::UNION;
	root.parts = {{{0, 0}}, {{1, 0}}, {{1, 1}}};
	root.children = {Leaf({1}), Union({0, 1}, {10, 10}, 2)};
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(0, Numbered(10, 2));
	rewriter.AddTask(1, Numbered(20, 3));
	rewriter.AddTask(2, Numbered(30, 4));
	EXPECT_EQ(RowsOf(root.children[0]), (Rows{{0, 11}}));
	EXPECT_EQ(RowsOf(root.children[1]), (Rows{{1, 21}, {2, 31}}));
	EXPECT_EQ(RowsOf(root.children[1].children[0]), (Rows{{1, 22}}));
	EXPECT_EQ(RowsOf(root.children[1].children[1]), (Rows{{2, 32}}));
}

TEST(StageMetricsRewriterTest, ATaskWithoutAnyPartHasTheUnionAlone) {
	auto root = Union({0}, {10}, 1);
	root.parts.emplace_back();
	StageMetricsRewriter rewriter(root);
	rewriter.AddTask(1, Numbered(0, 1));
	EXPECT_EQ(RowsOf(root), (Rows{{1, 0}}));
	EXPECT_TRUE(root.children[0].measured.empty());
}

TEST(StageMetricsRewriterTest, ATaskThatReportedNothingAddsNothing) {
	auto root = Operator("a", {Leaf({1})});
	StageMetricsRewriter(root).AddTask(0, {});
	EXPECT_TRUE(root.measured.empty());
}

TEST(StageMetricsRewriterTest, RefusesReportsOfOtherPlans) {
	auto root = Operator("a", {Leaf({1, 1})});
	StageMetricsRewriter rewriter(root);
	EXPECT_THROW(rewriter.AddTask(0, Numbered(0, 1)), duckdb::SerializationException);
	EXPECT_THROW(rewriter.AddTask(0, Numbered(0, 3)), duckdb::SerializationException);
	EXPECT_THROW(rewriter.AddTask(2, Numbered(0, 2)), duckdb::SerializationException);
}

} // namespace
} // namespace skein
