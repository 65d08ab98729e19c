#include "engine/fake_worker.hpp"
#include "skein/skein.hpp"

#include "duckdb/main/extension/extension_loader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace skein {
namespace {

using namespace duckdb;

//! A query, the join strategy it is planned with, and what its plan must and must not show.
struct PlanCase {
	const char *name;
	const char *sql;
	const char *join;
	vector<string> expected;
	vector<string> refused;
};

//! Two tables of four files each, one of one file, and one that only the session can read.
class PlacementRules : public ::testing::TestWithParam<PlanCase> {
protected:
	static void SetUpTestSuite() {
		folder_ = std::filesystem::temp_directory_path() / ("skein_rules_" + std::to_string(getpid()));
		std::filesystem::create_directories(folder_);
		db_ = new DuckDB(nullptr);
		Attach(*db_->instance);
		Connection connection(*db_);
		for (string table : {"big", "other"}) {
			for (int file = 0; file < 4; file++) {
				Run(connection, "COPY (SELECT range AS k, range % 10 AS g, 'text' || range AS s FROM range(" +
									std::to_string(file * 1000) + ", " + std::to_string(file * 1000 + 1000) +
									")) TO '" + (folder_ / (table + std::to_string(file) + ".parquet")).string() + "'");
			}
			Run(connection, "CREATE VIEW " + table + " AS FROM '" + (folder_ / (table + "*.parquet")).string() + "'");
		}
		Run(connection, "COPY (SELECT 1 AS k) TO '" + (folder_ / "tiny.parquet").string() + "'");
		Run(connection, "CREATE VIEW tiny AS FROM '" + (folder_ / "tiny.parquet").string() + "'");
		Run(connection, "COPY (SELECT range AS k, range AS v FROM range(600000)) TO '" +
							(folder_ / "large.parquet").string() + "' (ROW_GROUP_SIZE 100000)");
		Run(connection, "CREATE VIEW large AS FROM '" + (folder_ / "large.parquet").string() + "'");
		Run(connection, "CREATE TABLE native AS FROM range(100) t(k)");
		connection.CreateScalarFunction<int64_t, int64_t>("plus_seven", PlusSeven);
		duckdb::ExtensionLoader loader(*db_->instance, "temperature");
		auto temperature = LogicalType(LogicalType::BIGINT);
		temperature.SetAlias("TEMPERATURE");
		loader.RegisterType("TEMPERATURE", temperature);
		Run(connection, "CREATE TYPE length AS BIGINT");
	}
	static void TearDownTestSuite() {
		delete db_;
		std::filesystem::remove_all(folder_);
	}
	static int64_t PlusSeven(int64_t value) {
		return value + 7;
	}
	static duckdb::unique_ptr<MaterializedQueryResult> Run(Connection &connection, const string &sql) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << sql << "\n" << result->GetError();
		return result;
	}

	static vector<string> SortedRows(MaterializedQueryResult &result) {
		vector<string> rows(RowsOf(result));
		std::sort(rows.begin(), rows.end());
		return rows;
	}

	static std::filesystem::path folder_;
	static DuckDB *db_;
};

std::filesystem::path PlacementRules::folder_;
DuckDB *PlacementRules::db_ = nullptr;

TEST_P(PlacementRules, Plan) {
	auto &plan_case = GetParam();
	Connection connection(*db_);
	Run(connection, "SET skein_mode = 'force'");
	Run(connection, "SET skein_workers = 4");
	Run(connection, string("SET skein_join = '") + plan_case.join + "'");
	auto text = Run(connection, string("EXPLAIN ") + plan_case.sql)->GetValue(1, 0).ToString();
	for (auto &part : plan_case.expected) {
		EXPECT_NE(text.find(part), string::npos) << "missing: " << part << "\n" << text;
	}
	for (auto &part : plan_case.refused) {
		EXPECT_EQ(text.find(part), string::npos) << "not allowed: " << part << "\n" << text;
	}
	// Whatever the plan is, the rows are DuckDB's.
	auto distributed = Run(connection, plan_case.sql);
	Run(connection, "SET skein_mode = 'off'");
	auto alone = Run(connection, plan_case.sql);
	EXPECT_EQ(SortedRows(*distributed), SortedRows(*alone));
}

const PlanCase CASES[] = {
	{"ScanDealsFilesInOrder", "SELECT k FROM big", "auto", {"in order", "t3: READ_PARQUET"}, {"t4:"}},
	{"ScanOfASessionTableStaysWhereOrderCounts", "SELECT k FROM native", "auto", {"not distributed"}, {"Stage"}},
	{"ScanOfASessionTableIsDealtWhereItDoesNot",
	 "SELECT sum(k) FROM native",
	 "auto",
	 {"in turn", "in the session"},
	 {"not distributed"}},
	{"SmallLeafIsReadByEveryTask",
	 "SELECT count(*) FROM big JOIN tiny USING (k)",
	 "auto",
	 {"read by every task"},
	 {"NetworkBroadcast"}},
	{"SmallLeafIsNotReadByEveryTaskWhenShufflesAreForced",
	 "SELECT count(*) FROM big JOIN tiny USING (k)",
	 "shuffle",
	 {"NetworkShuffle: keys"},
	 {"read by every task"}},
	{"FullJoinIsNeverBroadcast",
	 "SELECT count(*) FROM big FULL JOIN other USING (k)",
	 "broadcast",
	 {"NetworkShuffle: keys"},
	 {"NetworkBroadcast", "read by every task"}},
	{"LeftJoinReplicatesOnlyItsRightSide",
	 "SELECT count(*) FROM big b LEFT JOIN other o ON b.k < o.k AND b.g = 3 AND o.g = 4",
	 "auto",
	 {"read by every task"},
	 {"NetworkShuffle"}},
	{"FullJoinWithoutEqualityRunsInOneTask",
	 "SELECT count(*) FROM (FROM big LIMIT 9) b FULL JOIN (FROM other LIMIT 9) o ON b.k < o.k",
	 "auto",
	 {"NetworkCoalesce"},
	 {"NetworkBroadcast", "read by every task"}},
	{"FullJoinWithoutEqualityIsALeftJoinAndAnAntiJoin",
	 "SELECT b.k, o.k, o.g FROM (FROM big WHERE k % 100 = 3) b FULL JOIN (FROM other WHERE k % 50 = 1) o "
	 "ON b.k < o.k - 3000 AND b.g <> o.g",
	 "auto",
	 {"DistributedUnion", "LEFT", "ANTI", "NetworkBroadcast"},
	 {"FULL"}},
	{"FullJoinOfAnyConditionIsALeftJoinAndAnAntiJoin",
	 "SELECT b.s, o.k FROM (FROM big WHERE k % 100 = 3) b FULL JOIN (FROM other WHERE k % 50 = 1) o ON (b.k + o.k) % 7 "
	 "= 0",
	 "auto",
	 {"DistributedUnion", "ANY_JOIN", "NetworkBroadcast"},
	 {"FULL"}},
	{"NotInIsNeverPartitioned",
	 "SELECT count(*) FROM big WHERE k NOT IN (SELECT k FROM other)",
	 "shuffle",
	 {"MARK"},
	 {"NetworkShuffle"}},
	{"InnerJoinIsShuffledWhenForced",
	 "SELECT count(*) FROM big JOIN other USING (k)",
	 "shuffle",
	 {"NetworkShuffle: keys"},
	 {"NetworkBroadcast"}},
	{"GroupsOnTheJoinKeyStayInPlace",
	 "SELECT k, count(*) FROM big JOIN other USING (k) GROUP BY k",
	 "shuffle",
	 {"[Stage 3] => NetworkCoalesce"},
	 {"partial"}},
	{"AggregateInParts", "SELECT g, sum(k), avg(k) FROM big GROUP BY g", "auto", {"partial avg", "final avg"}, {}},
	{"MedianMovesRows", "SELECT g, median(k) FROM big GROUP BY g", "auto", {"NetworkShuffle: keys"}, {"partial"}},
	{"GroupedDistinctMovesRows",
	 "SELECT g, count(DISTINCT k) FROM big GROUP BY g",
	 "auto",
	 {"NetworkShuffle: keys"},
	 {"partial"}},
	{"UngroupedDistinctShufflesItsArgument",
	 "SELECT count(DISTINCT g) FROM big",
	 "auto",
	 {"NetworkShuffle: keys=[g]", "partial", "final"},
	 {}},
	{"DifferentDistinctArgumentsAreCountedApart",
	 "SELECT count(DISTINCT g), count(DISTINCT k) FROM big",
	 "auto",
	 {"keys=[g]", "keys=[k]", "CROSS_PRODUCT"},
	 {}},
	{"GroupingSetsAreCombinedPerSet",
	 "SELECT g, count(*) FROM big GROUP BY ROLLUP (g)",
	 "auto",
	 {"partial count_star()", "keys=[g, set]"},
	 {}},
	{"GroupingSetsOfWhatHasNoPartsAreComputedApart",
	 "SELECT g, median(k) FROM big GROUP BY ROLLUP (g)",
	 "auto",
	 {"keys=[g]", "DistributedUnion"},
	 {"partial"}},
	{"SetsThatOccurTwiceAreComputedApart",
	 "SELECT g, count(*) FROM big GROUP BY GROUPING SETS ((g), (g))",
	 "auto",
	 {"keys=[g]", "DistributedUnion"},
	 {"set"}},
	{"SetOperationsMeetByAllColumns",
	 "SELECT k, g FROM big EXCEPT SELECT k, g FROM other",
	 "auto",
	 {"keys=[k, g]", "DISTINCT"},
	 {}},
	{"SetOperationsOfAllRowsKeepDuplicates",
	 "SELECT g FROM big EXCEPT ALL SELECT g FROM other WHERE k < 3000",
	 "auto",
	 {"keys=[g]"},
	 {"DISTINCT"}},
	{"SetOperationsOfPartitionedRowsMoveNothing",
	 "SELECT k, g FROM big GROUP BY ALL INTERSECT SELECT k, g FROM other GROUP BY ALL",
	 "auto",
	 {"[Stage 1] => NetworkShuffle: keys=[k, g]", "[Stage 2] => NetworkShuffle: keys=[k, g]", "Stage 3 "},
	 {"Stage 4 "}},
	{"AnAggregateIsPartitionedAsTheWindowAboveWantsIt",
	 "SELECT *, rank() OVER (PARTITION BY k ORDER BY n) FROM (SELECT k, s, count(*) AS n FROM big GROUP BY ALL)",
	 "auto",
	 {"NetworkShuffle: keys=[k], input_tasks=4", "Stage 2 "},
	 {"Stage 3 "}},
	{"AggregatesArePartitionedAsTheJoinAboveWantsThem",
	 "SELECT a.n + b.n FROM (SELECT k, g, count(*) AS n FROM big GROUP BY ALL) a "
	 "JOIN (SELECT k, s, count(*) AS n FROM other GROUP BY ALL) b ON a.k = b.k",
	 "shuffle",
	 {"NetworkShuffle: keys=[k], input_tasks=4", "Stage 3 "},
	 {"Stage 4 "}},
	{"GroupingSetsArePartitionedAsTheWindowAboveWantsThem",
	 "SELECT *, rank() OVER (PARTITION BY s ORDER BY n, g) FROM (SELECT s, g, count(*) AS n FROM big GROUP BY ROLLUP "
	 "(s, g))",
	 "auto",
	 {"NetworkShuffle: keys=[s], input_tasks=4", "Stage 2 "},
	 {"Stage 3 "}},
	{"AFewValuesDoNotPartitionAnAggregate",
	 "SELECT *, rank() OVER (PARTITION BY b ORDER BY n, k) FROM (SELECT k, k % 3 = 0 AS b, count(*) AS n FROM big "
	 "GROUP BY ALL)",
	 "auto",
	 {"NetworkShuffle: keys=[k, b], input_tasks=4", "NetworkShuffle: keys=[b], input_tasks=4"},
	 {}},
	{"ReadersOfASharedStageFilterAndProjectThere",
	 "WITH c AS MATERIALIZED (SELECT k, g, s, count(*) AS n FROM big GROUP BY ALL) "
	 "SELECT a.n, upper(b.s) FROM (SELECT * FROM c WHERE g = 3) a JOIN (SELECT k, s || k AS s FROM c WHERE g <> 4) b "
	 "USING (k)",
	 "shuffle",
	 {"NetworkShuffle: keys=[k], where=[(g = 3)]", "NetworkShuffle: keys=[k], where=[(g != 4)]", "Stage 3 "},
	 {"Stage 4 ", "in turn"}},
	{"ASmallTableIsReadByEveryTaskWhateverIsJoinedWithIt",
	 "SELECT count(*) FROM (SELECT b.k FROM big b JOIN other o ON b.s = o.s WHERE b.g = 1 AND o.g = 1) x JOIN tiny "
	 "USING (k)",
	 "auto",
	 {"read by every task"},
	 {"NetworkShuffle: keys=[k]"}},
	{"AsofJoinsMeetByTheirKeys",
	 "SELECT count(*) FROM big ASOF JOIN other ON big.g = other.g AND big.k >= other.k",
	 "shuffle",
	 {"keys=[g]"},
	 {"NetworkBroadcast"}},
	{"AnAsofJoinWithoutKeysBroadcastsItsRightSide",
	 "SELECT count(*) FROM big ASOF JOIN other ON big.k >= other.k",
	 "shuffle",
	 {"NetworkBroadcast"},
	 {"NetworkShuffle"}},
	{"PositionalJoinsReadInOrder",
	 "SELECT sum(a.k * b.k) FROM big a POSITIONAL JOIN other b",
	 "auto",
	 {"in order"},
	 {"partial"}},
	{"AWindowWithoutOrderOverAllPeersIsShuffled",
	 "SELECT sum(k) OVER (PARTITION BY g) FROM big",
	 "auto",
	 {"keys=[g]"},
	 {}},
	{"WindowsWithoutACommonKeyAreShuffledOneByOne",
	 "SELECT sum(k) OVER (PARTITION BY g), count(*) OVER (PARTITION BY s) FROM big",
	 "auto",
	 {"keys=[g]", "keys=[s]"},
	 {}},
	{"ATableFunctionCalledPerRowStaysWhereTheRowsAre",
	 "SELECT count(*) FROM big, range(big.g) r(i)",
	 "auto",
	 {"partial count_star()"},
	 {}},
	{"AWindowThatNumbersRowsAsTheyComeReadsThemInOrder",
	 "SELECT row_number() OVER (PARTITION BY g) FROM big",
	 "auto",
	 {"in order"},
	 {"keys=[g]"}},
	{"AShuffleIsFilteredByTheOtherSidesKeys",
	 "SELECT count(*) FROM big JOIN other ON big.k = other.k WHERE other.g = 3",
	 "shuffle",
	 {"RuntimeFilter: keys=[k], of stage 1"},
	 {}},
	{"ACorrelatedSubqueryReadsOnlyWhatItIsAskedFor",
	 "SELECT count(*) FROM other o WHERE o.g = 3 AND o.k * 2 > (SELECT sum(k) FROM big WHERE big.s = o.s)",
	 "shuffle",
	 {"RuntimeFilter: keys=[s], of stage 1"},
	 {}},
	{"NothingIsFilteredByTheKeysOfAWholeTable",
	 "SELECT count(*) FROM big JOIN other ON big.k = other.k",
	 "shuffle",
	 {"NetworkShuffle"},
	 {"RuntimeFilter"}},
	{"RowsThatAJoinReturnsWithoutAMatchAreNotFiltered",
	 "SELECT big.k, o.s FROM big LEFT JOIN (FROM other WHERE g < 8 LIMIT 3000) o ON big.k = o.k AND big.g = o.g",
	 "shuffle",
	 {"NetworkShuffle", "LEFT"},
	 {"RuntimeFilter"}},
	{"ASharedStageIsNotFiltered",
	 "WITH c AS MATERIALIZED (SELECT k, g FROM big) SELECT count(*) FROM c JOIN (SELECT k FROM c WHERE g = 1) d ON c.k "
	 "= d.k",
	 "shuffle",
	 {"NetworkShuffle"},
	 {"RuntimeFilter"}},
	{"AFunctionOfTheSessionIsCalledInTheHead",
	 "SELECT sum(plus_seven(k)) FROM big",
	 "auto",
	 {"plus_seven(k)", "NetworkCoalesce"},
	 {"partial"}},
	{"AFilterOfTheScanThatOnlyTheSessionCanApplyKeepsItThere",
	 "SELECT count(*) FROM big WHERE plus_seven(k) > 100",
	 "auto",
	 {"not distributed: plus_seven() is a function that only this session has"},
	 {}},
	{"ACastToATypeOfTheSessionIsDoneInTheHead",
	 "SELECT min(CAST(substr(s, 5) AS TEMPERATURE)) FROM big",
	 "auto",
	 {"AS TEMPERATURE)", "NetworkCoalesce"},
	 {"partial"}},
	{"ACastFromATypeOfTheSessionIsDoneInTheHead",
	 "SELECT min(CAST(t[1] AS VARCHAR)) FROM (SELECT list(CAST(k AS TEMPERATURE) ORDER BY k) AS t FROM big GROUP BY g)",
	 "auto",
	 {"NetworkCoalesce"},
	 {"partial"}},
	{"AFilterOfTheScanWithACastToATypeOfTheSessionKeepsItThere",
	 "SELECT count(*) FROM big WHERE TRY_CAST([s] AS TEMPERATURE[]) IS NOT NULL",
	 "auto",
	 {"not distributed: TEMPERATURE is a type that only this session has"},
	 {}},
	{"ACastToATypeThatIsAnotherNameForOneOfDuckDBsIsDoneInTheTasks",
	 "SELECT min(CAST(substr(s, 5) AS length)) FROM big",
	 "auto",
	 {"partial"},
	 {}},
	{"ALambdaThatOnlyTheSessionCanCallIsCalledInTheHead",
	 "SELECT sum(list_sum(list_transform([k, g], x -> plus_seven(x)))) FROM big",
	 "auto",
	 {"NetworkCoalesce"},
	 {"partial"}},
	{"ACorrelatedSubqueryOfTheSessionRunsInTheHead",
	 "SELECT count(*) FROM other o WHERE (SELECT plus_seven(max(k)) FROM big WHERE big.s = o.s) > 3",
	 "shuffle",
	 {"DELIM_JOIN"},
	 {}},
	{"OrderIsMerged", "SELECT k, s FROM big ORDER BY s", "auto", {"merge=["}, {}},
	{"OrderByADroppedColumnIsMerged", "SELECT k FROM big ORDER BY s", "auto", {"merge=[s ASC"}, {}},
	{"OrderByAnExpressionIsMerged", "SELECT k FROM big ORDER BY s COLLATE NOCASE", "auto", {"merge=["}, {}},
	{"TopNAppliesItsOffsetOnce", "SELECT k FROM big ORDER BY k LIMIT 5 OFFSET 3", "auto", {"limit=8, offset=0"}, {}},
	{"LimitKeepsTheOrderOfTheFiles", "SELECT k FROM big LIMIT 5", "auto", {"in order"}, {}},
	{"LimitOfAnAggregateIsAppliedAfterTheGroupsAreWhole",
	 "SELECT count(*) FROM (SELECT g, count(*) AS n FROM big GROUP BY g LIMIT 3) WHERE n = 400",
	 "auto",
	 {"final count_star()"},
	 {}},
	{"DistinctTwice", "SELECT count(*) FROM (SELECT DISTINCT g FROM big)", "auto", {"NetworkShuffle: keys"}, {}},
	{"WindowWithoutPartitionRunsInOneTask",
	 "SELECT sum(r) FROM (SELECT row_number() OVER (ORDER BY k) AS r FROM big)",
	 "auto",
	 {"NetworkCoalesce"},
	 {"NetworkShuffle"}},
	{"WindowIsShuffledByItsPartition",
	 "SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY g ORDER BY k) AS r FROM big)",
	 "auto",
	 {"NetworkShuffle: keys=[g]"},
	 {}},
	{"VolatileExpressionsStayInTheHead",
	 "SELECT count(*) FROM big WHERE random() < 2",
	 "auto",
	 {"NetworkCoalesce"},
	 {"partial"}},
	{"UnionAllIsSpreadOverTheTasks",
	 "SELECT count(*) FROM (SELECT k FROM big UNION ALL SELECT k FROM tiny)",
	 "auto",
	 {"DistributedUnion: t0:[c0(0/3)]", "t3:[c1]"},
	 {}},
	{"AUnionInsideOfAnotherGivesItItsChildren",
	 "SELECT count(*), sum(n) FROM (SELECT k AS n FROM tiny UNION ALL SELECT abs(n) + 1 FROM (SELECT k AS n FROM big "
	 "UNION ALL SELECT k FROM other) WHERE n % 3 = 0)",
	 "auto",
	 {"DistributedUnion: t0:[c0] t1:[c1", "t3:[c2"},
	 {"  DistributedUnion: t0:[c0(0/2)]"}},
	{"AUnionUnderAJoinInsideOfAnotherHasItsOwnParts",
	 "SELECT count(*), sum(n) FROM (SELECT k AS n FROM other UNION ALL SELECT u.k FROM (SELECT k FROM big UNION ALL "
	 "SELECT k FROM other) u JOIN tiny USING (k))",
	 "auto",
	 {"DistributedUnion: t0:[c0] t1:[c1(0/3)]", "  DistributedUnion: t0:[c0"},
	 {}},
	{"UnionAllThatKeepsItsOrderIsPutTogetherInTheHead",
	 "SELECT k FROM big UNION ALL SELECT k FROM other",
	 "auto",
	 {"in order"},
	 {"DistributedUnion"}},
	{"CorrelatedSubqueryStaysInOneStage",
	 "SELECT count(*) FROM big b WHERE EXISTS (SELECT 1 FROM other o WHERE o.k = b.k AND o.g + 1 <> b.g)",
	 "auto",
	 {"DELIM"},
	 {}},
	{"AListIsUnnestedWithOrdinalityWhereItsRowIs",
	 "SELECT k, u.x, u.i FROM (SELECT k, [k, g, k + g] AS l FROM big) t, UNNEST(l) WITH ORDINALITY u(x, i)",
	 "auto",
	 {"DELIM_JOIN", "Stage 1 ", "NetworkCoalesce: input_tasks=4"},
	 {"Stage 2 "}},
	{"TheNumberOfARowThatIsReturnedIsGivenInOneTask",
	 "SELECT k, n, u.x FROM (SELECT k, [k, g] AS l, row_number() OVER () AS n FROM big) t, UNNEST(l) WITH ORDINALITY "
	 "u(x, i)",
	 "auto",
	 {"in order"},
	 {}},
	{"ALateralUnionStaysWithItsRow",
	 "SELECT k, u.x FROM big, LATERAL (SELECT big.g + o.g AS x FROM other o WHERE o.k = big.k UNION ALL SELECT big.k * "
	 "2) u",
	 "auto",
	 {"DELIM_JOIN", "UNION"},
	 {"needs rows of several tasks"}},
	{"AFullJoinMeetsByTheEqualitiesAmongItsConditions",
	 "SELECT big.k, o.g FROM big FULL JOIN other o ON big.k = o.k AND (big.g + o.g) % 3 = 1",
	 "auto",
	 {"ANY_JOIN", "NetworkShuffle: keys=[k]"},
	 {"one task"}},
	{"MaterialisedCteIsOneStage",
	 "WITH c AS MATERIALIZED (SELECT g, count(*) AS n FROM big GROUP BY g) "
	 "SELECT count(*) FROM c a JOIN c b ON a.n = b.n",
	 "shuffle",
	 {"NetworkShuffle: keys=[n], input_tasks=4"},
	 {"CTE"}},
};

TEST_F(PlacementRules, TooManyKeysFilterNothing) {
	Connection connection(*db_);
	auto sql = "SELECT count(*), sum(big.k) FROM big JOIN (SELECT range AS k FROM range(4500000) WHERE range % 2 = 0) "
			   "other USING (k)";
	// Otherwise the larger side would not be the build side.
	Run(connection, "SET disabled_optimizers = 'join_order,build_side_probe_side'");
	Run(connection, "SET skein_mode = 'off'");
	auto expected = SortedRows(*Run(connection, sql));
	Run(connection, "SET skein_mode = 'force'");
	Run(connection, "SET skein_workers = 2");
	Run(connection, "SET skein_join = 'shuffle'");
	auto text = Run(connection, string("EXPLAIN ") + sql)->GetValue(1, 0).ToString();
	EXPECT_NE(text.find("RuntimeFilter"), string::npos) << text;
	EXPECT_EQ(SortedRows(*Run(connection, sql)), expected);
	Run(connection, "RESET disabled_optimizers");
}

// DuckDB alone promises no order here, and with several threads has none; with one it is that of the files.
TEST_F(PlacementRules, AListOfAllRowsIsInTheirOrder) {
	Connection connection(*db_);
	Run(connection, "SET skein_mode = 'force'");
	Run(connection, "SET skein_workers = 4");
	auto rows = Run(connection, "SELECT array_to_string(list(k), ',') = array_to_string(range(4000), ',') FROM big");
	EXPECT_EQ(SortedRows(*rows), vector<string>{"true|"});
}

TEST_F(PlacementRules, ALargeBroadcastIsFilteredByTheKeysThatHaveComeTogether) {
	Connection connection(*db_);
	auto sql = "SELECT count(*), sum(x.n + l.v) FROM (SELECT k, count(*) AS n FROM big WHERE g = 3 GROUP BY k) x "
			   "LEFT JOIN large l ON x.k = l.k";
	Run(connection, "SET disabled_optimizers = 'join_order,build_side_probe_side'");
	Run(connection, "SET skein_mode = 'off'");
	auto expected = SortedRows(*Run(connection, sql));
	Run(connection, "SET skein_mode = 'force'");
	Run(connection, "SET skein_workers = 4");
	Run(connection, "SET skein_join = 'broadcast'");
	auto text = Run(connection, string("EXPLAIN ") + sql)->GetValue(1, 0).ToString();
	EXPECT_NE(text.find("RuntimeFilter: keys=[k], of stage 1"), string::npos) << text;
	EXPECT_EQ(SortedRows(*Run(connection, sql)), expected);
	Run(connection, "RESET disabled_optimizers");
}

TEST_F(PlacementRules, AUnionShowsItsChildrenInTheirOrder) {
	Connection connection(*db_);
	Run(connection, "SET skein_mode = 'force'");
	Run(connection, "SET skein_workers = 5");
	auto plan = Run(connection, "EXPLAIN SELECT sum(k) FROM (SELECT k FROM large UNION ALL SELECT k FROM tiny)");
	auto text = plan->GetValue(1, 0).ToString();
	EXPECT_NE(text.find("Union: t0:[c0(0/4)] t1:[c0(1/4)] t2:[c0(2/4)] t3:[c0(3/4)] t4:[c1]\n"), string::npos) << text;
	EXPECT_LT(text.find("large.parquet"), text.find("tiny.parquet"));
}

TEST_F(PlacementRules, AUnionOfFiveHundredChildrenIsPackedIntoItsTasks) {
	Connection connection(*db_);
	string children;
	for (int child = 0; child < 500; child++) {
		children += (child ? " UNION ALL " : "") + ("SELECT k + " + std::to_string(child)) + " AS n FROM '" +
					(folder_ / ("big" + std::to_string(child % 4) + ".parquet")).string() + "'";
	}
	auto sql = "SELECT count(*), sum(n) FROM (" + children + ")";
	Run(connection, "SET skein_mode = 'off'");
	auto expected = SortedRows(*Run(connection, sql));
	Run(connection, "SET skein_mode = 'force'");
	for (size_t workers : {1, 3, 7}) {
		Run(connection, "SET skein_workers = " + std::to_string(workers));
		EXPECT_EQ(SortedRows(*Run(connection, sql)), expected);
		EXPECT_EQ(SortedRows(*Run(connection, "SELECT distributed, stages, tasks FROM skein_last_query()")),
				  vector<string>{"true|1|" + std::to_string(workers) + "|"});
	}
}

// When a pipeline ends before its source, the engine tells its sink not to block any more; here two share the sink.
TEST_F(PlacementRules, AFullOutputKeepsTheRowsOfAUnionOfWhichOneSideEndsEarly) {
	Connection connection(*db_);
	auto empty = "SELECT big.k, big.s FROM big JOIN (SELECT k FROM other WHERE g * g = 2) none USING (k)";
	auto sql = string(empty) + " UNION ALL SELECT k, s FROM other UNION ALL " + empty;
	Run(connection, "SET skein_mode = 'off'");
	auto expected = SortedRows(*Run(connection, sql));
	Run(connection, "SET skein_mode = 'force'");
	Run(connection, "SET skein_workers = 2");
	Run(connection, "SET skein_page_bytes = '1'");
	Run(connection, "SET skein_buffer_bytes = '1'");
	for (string in_order : {"true", "false"}) {
		Run(connection, "SET preserve_insertion_order = " + in_order);
		EXPECT_EQ(SortedRows(*Run(connection, sql)).size(), expected.size());
		EXPECT_EQ(SortedRows(*Run(connection, sql)), expected);
	}
}

INSTANTIATE_TEST_SUITE_P(All, PlacementRules, ::testing::ValuesIn(CASES),
						 [](const auto &info) { return info.param.name; });

} // namespace
} // namespace skein
