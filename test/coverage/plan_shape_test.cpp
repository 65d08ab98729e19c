#include "plan_shape.hpp"

#include <gtest/gtest.h>

namespace skein::test {
namespace {

const char *const AGGREGATE = R"(┌───── Distributed ── workers=3
│ [Stage 2] => NetworkCoalesce: merge=[s DESC], input_tasks=3
└──────────────────────────────────────────────────
  ┌───── Stage 2 ── tasks=3
  │ ORDER_BY: s DESC
  │   PROJECTION: k, s
  │     AGGREGATE: groups=[k], [final sum(v)]
  │       [Stage 1] => NetworkShuffle: keys=[k], input_tasks=3
  └──────────────────────────────────────────────────
    ┌───── Stage 1 ── tasks=3
    │ AGGREGATE: groups=[k], [partial sum(v)]
    │   DistributedLeaf:
    │     t0: READ_PARQUET files=[a.parquet row_groups=0] rows=1 bytes=2
    │     t1: READ_PARQUET files=[b.parquet row_groups=0] rows=1 bytes=2
    └──────────────────────────────────────────────────
)";

const char *const JOIN = R"(┌───── Distributed ── workers=3
│ WINDOW: x
│   COMPARISON_JOIN: join type=FULL
│     [Stage 1] => NetworkCoalesce: in order, input_tasks=3
│     [Stage 2] => NetworkShuffle: input_tasks=1
└──────────────────────────────────────────────────
  ┌───── Stage 1 ── tasks=1
  │ FILTER: a
  │   DistributedLeaf: read by every task
  │     READ_PARQUET files=[a.parquet row_groups=0] rows=1 bytes=2
  └──────────────────────────────────────────────────
  ┌───── Stage 2 ── in the session
  │ SEQ_SCAN: t
  └──────────────────────────────────────────────────
)";

TEST(PlanShape, DescribesStepsFromTheLeavesToTheHead) {
	EXPECT_EQ(PlanShape(AGGREGATE).Describe(), "partial AGGREGATE, NetworkShuffle by k, final AGGREGATE, ORDER_BY, "
											   "NetworkCoalesce that merges");
}

TEST(PlanShape, SaysWhatRunsInOnePlace) {
	EXPECT_EQ(PlanShape(JOIN).Describe(), "left (read by every task, FILTER in one task, NetworkCoalesce in order), "
										  "right (rows of the session, NetworkShuffle in turn), "
										  "COMPARISON_JOIN in the head, WINDOW in the head");
}

TEST(PlanShape, FindsWhatRunsInSeveralTasks) {
	PlanShape aggregate(AGGREGATE);
	EXPECT_TRUE(aggregate.IsSpread());
	EXPECT_TRUE(aggregate.IsSpread({"WINDOW", "AGGREGATE"}));
	EXPECT_FALSE(aggregate.IsSpread({"WINDOW"}));
	PlanShape join(JOIN);
	EXPECT_FALSE(join.IsSpread());
	EXPECT_TRUE(join.Contains({"FILTER"}));
	EXPECT_FALSE(join.IsSpread({"FILTER"}));
}

TEST(PlanShape, SaysThatAStageIsReadMoreThanOnce) {
	const char *text = R"(┌───── Distributed ── workers=3
│ CROSS_PRODUCT
│   [Stage 1] => NetworkCoalesce: input_tasks=3
│   [Stage 1] => NetworkCoalesce: input_tasks=3
└──────────────────────────────────────────────────
  ┌───── Stage 1 ── tasks=3
  │ DistributedLeaf:
  │   t0: READ_PARQUET files=[a.parquet row_groups=0] rows=1 bytes=2
  └──────────────────────────────────────────────────
)";
	EXPECT_EQ(PlanShape(text).Describe(), "left (shared Stage 1, NetworkCoalesce), "
										  "right (shared Stage 1, NetworkCoalesce), CROSS_PRODUCT in the head");
}

TEST(PlanShape, RefusesWhatIsNoDistributedPlan) {
	EXPECT_THROW(PlanShape("SEQ_SCAN t\n"), std::runtime_error);
}

} // namespace
} // namespace skein::test
