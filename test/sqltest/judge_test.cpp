#include "judge.hpp"

#include <gtest/gtest.h>

namespace skein::test {
namespace {

using Kind = Verdict::Kind;

//! Judges answers that are made up by other SQL than the statement's.
class JudgeTest : public testing::Test {
protected:
	JudgeTest()
		: variables_("a.test", "/tmp"), expectation_(variables_), judge_(expectation_), database_(nullptr),
		  connection_(database_) {
		connection_.Query("CREATE TABLE t AS SELECT * FROM range(3) t(i)");
	}

	LaneOutcome Run(const std::string &sql) {
		LaneOutcome outcome;
		static_cast<Outcome &>(outcome) = RunSql(connection_, sql);
		outcome.plan = LaneOutcome::Plan{true, ""};
		return outcome;
	}

	//! `record` is the statement with what is expected; plain DuckDB gives what its SQL gives, Skein what `skein`
	//! gives.
	Verdict Decide(const std::string &record, const LaneOutcome &skein) {
		auto statement = SqlFile::Parse("a.test", record).records.at(0);
		auto plain = Run(statement.sql);
		auto repeat = [&] { return Run(statement.sql); };
		auto repeat_skein_alone = [&] { return skein_alone_.empty() ? repeat() : Run(skein_alone_); };
		return judge_.Decide({statement, statement.sql, plain, skein, random_content_, repeat, repeat_skein_alone},
							 connection_, connection_);
	}

	bool random_content_ = false;
	//! What gives the other lane's answer without Skein; by default the statement itself.
	std::string skein_alone_;
	Variables variables_;
	Expectation expectation_;
	Judge judge_;
	duckdb::DuckDB database_;
	duckdb::Connection connection_;
};

TEST_F(JudgeTest, FindsAnswersEqual) {
	auto verdict = Decide("query I\nSELECT i FROM t\n----\n0\n1\n2\n", Run("SELECT i FROM t"));
	EXPECT_EQ(verdict.kind, Kind::EQUAL);
	EXPECT_FALSE(verdict.alone_mismatch);
}

TEST_F(JudgeTest, SaysWhyAnEqualAnswerIsLocal) {
	auto skein = Run("SELECT i FROM t");
	skein.plan = LaneOutcome::Plan{false, "too small"};
	auto verdict = Decide("query I\nSELECT i FROM t\n", skein);
	EXPECT_EQ(verdict.kind, Kind::LOCAL);
	EXPECT_EQ(verdict.reason, "too small");
}

TEST_F(JudgeTest, ShowsWhichRowsDiffer) {
	auto verdict = Decide("query I\nSELECT i FROM t\n", Run("SELECT i + (i = 2)::INT AS i FROM t"));
	EXPECT_EQ(verdict.kind, Kind::DIFFERENT);
	EXPECT_EQ(verdict.diff, (std::vector<std::string>{"- 2", "+ 3"}));
}

TEST_F(JudgeTest, HoldsTheSourcesOrderWhereDuckDBPromisesIt) {
	auto reversed = Run("SELECT i FROM t ORDER BY i DESC");
	EXPECT_EQ(Decide("query I\nSELECT i FROM t\n", reversed).reason, "the rows are not in the order of their source");
	EXPECT_EQ(Decide("query I\nSELECT i FROM t GROUP BY i\n", reversed).kind, Kind::EQUAL);
	connection_.Query("SET preserve_insertion_order = false");
	EXPECT_EQ(Decide("query I\nSELECT i FROM t\n", reversed).kind, Kind::EQUAL);
}

TEST_F(JudgeTest, HoldsTheOrderOfTheQuery) {
	EXPECT_EQ(Decide("query I\nSELECT i FROM t ORDER BY i\n", Run("SELECT i FROM t ORDER BY i DESC")).kind,
			  Kind::DIFFERENT);
}

TEST_F(JudgeTest, LeavesTheChoiceAmongTiesAtALimit) {
	auto other = Run("SELECT 1 AS k, 7::BIGINT AS i");
	auto record = "query II\nSELECT 1 AS k, i FROM (FROM t UNION ALL SELECT 7) ORDER BY k LIMIT 1\n";
	EXPECT_EQ(Decide(record, other).kind, Kind::EQUAL);
	EXPECT_EQ(Decide(record, Run("SELECT 1 AS k, 8::BIGINT AS i")).kind, Kind::DIFFERENT);
}

TEST_F(JudgeTest, SaysNothingOfAnAnswerThatChanges) {
	EXPECT_EQ(Decide("query R\nSELECT random() AS r FROM t\n", Run("SELECT random() AS r FROM t")).kind, Kind::OPEN);
	EXPECT_EQ(Decide("query II\nEXPLAIN SELECT 1\n", Run("EXPLAIN SELECT 2")).kind, Kind::OPEN);
}

TEST_F(JudgeTest, ComparesWithTheSameTablesWhereTheyHoldRandomValues) {
	auto other = Run("SELECT i + 5 AS i FROM t");
	skein_alone_ = "SELECT i + 5 AS i FROM t";
	EXPECT_EQ(Decide("query I\nSELECT i FROM t\n", other).kind, Kind::DIFFERENT);
	random_content_ = true;
	EXPECT_EQ(Decide("query I\nSELECT i FROM t\n", other).kind, Kind::EQUAL);
	EXPECT_EQ(Decide("query I\nSELECT i FROM t\n", Run("SELECT i + 6 AS i FROM t")).kind, Kind::DIFFERENT);
}

TEST_F(JudgeTest, NotesWhatIsNotAsExpectedInPlainDuckDB) {
	auto verdict = Decide("query I\nSELECT 1 AS a\n----\n2\n", Run("SELECT 1 AS a"));
	EXPECT_EQ(verdict.kind, Kind::EQUAL);
	EXPECT_EQ(verdict.alone_mismatch, "row 1, column 1 is 1 instead of 2");
	EXPECT_TRUE(Decide("statement error\nSELECT 1 AS a\n", Run("SELECT 1 AS a")).alone_mismatch);
	EXPECT_TRUE(Decide("statement ok\nSELECT x\n", Run("SELECT x")).alone_mismatch);
	EXPECT_FALSE(Decide("statement maybe\nSELECT x\n", Run("SELECT x")).alone_mismatch);
}

TEST_F(JudgeTest, WantsTheSameErrors) {
	auto failing = "statement error\nSELECT 'a5'::INTEGER FROM t\n";
	EXPECT_EQ(Decide(failing, Run("SELECT 'a5'::INTEGER FROM t")).kind, Kind::EQUAL);
	EXPECT_EQ(Decide(failing, Run("SELECT 1")).kind, Kind::DIFFERENT);
	EXPECT_EQ(Decide(failing, Run("SELECT x FROM t")).kind, Kind::DIFFERENT);
	EXPECT_EQ(Decide("query I\nSELECT 1\n", Run("SELECT x")).kind, Kind::DIFFERENT);
}

TEST_F(JudgeTest, AcceptsAnotherRowAndThePlaceInAMessage) {
	auto failing = "statement error\nSELECT error('row 5 is bad')\n";
	EXPECT_EQ(Decide(failing, Run("SELECT error('row 6 is bad (worker local-1, stage 2, task 0)')")).kind, Kind::EQUAL);
	EXPECT_EQ(Decide(failing, Run("SELECT error('row 5 is good')")).kind, Kind::DIFFERENT);
	auto local = Run("SELECT error('row 6 is bad')");
	local.plan->distributed = false;
	EXPECT_EQ(Decide(failing, local).kind, Kind::DIFFERENT);
}

TEST_F(JudgeTest, FindsAQueryDifferentThatTakesTooLong) {
	auto skein = Run("SELECT 1");
	skein.timed_out = true;
	EXPECT_EQ(Decide("query I\nSELECT 1\n", skein).kind, Kind::DIFFERENT);
}

} // namespace
} // namespace skein::test
