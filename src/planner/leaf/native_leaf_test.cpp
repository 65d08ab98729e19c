#include "planner/leaf/native_leaf.hpp"

#include "engine/native_slice.hpp"
#include "planner/leaf/leaf_fixture.hpp"

#include <atomic>
#include <fstream>
#include <thread>

namespace skein {
namespace {

//! Ten row groups of 2048 rows, and a last one of 1000.
constexpr const char *FACT = "SELECT range AS k, 'name ' || (range % 1000) AS t, "
							 "{'a': range * 2, 'b': [range, NULL]} AS s, (range % 7)::DECIMAL(9, 2) AS d, "
							 "CASE WHEN range % 5 > 0 THEN range END AS n FROM range(21480)";

class NativeLeafTest : public LeafTest {
protected:
	//! Makes a database file by running `sql` in it, and attaches it read only as `shop`.
	void MakeFile(const std::vector<std::string> &sql, const std::string &name = "shop.db") {
		Query("ATTACH '" + name + "' AS made (ROW_GROUP_SIZE 2048)");
		Query("USE made");
		for (auto &statement : sql) {
			Query(statement);
		}
		Query("USE memory");
		Query("DETACH made");
		Query("ATTACH '" + name + "' AS shop (READ_ONLY)");
	}

	void Analyze(const std::string &sql, const std::function<void(const NativeLeaf &)> &use) {
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			std::string reason;
			auto leaf = AnalyzeNativeScan(context, (*FirstScan(plan))->Cast<LogicalGet>(), reason);
			ASSERT_TRUE(leaf) << sql << ": " << reason;
			use(*leaf);
		});
	}
	size_t UnitsOf(const std::string &sql) {
		size_t units = 0;
		Analyze(sql, [&](const NativeLeaf &leaf) { units = leaf.units.size(); });
		return units;
	}
};

TEST_F(NativeLeafTest, RowsAreTheSameInTheSameOrder) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT});
	ExpectSameRows("SELECT * FROM shop.fact");
	ExpectSameRows("SELECT n, rowid, t FROM shop.fact WHERE d > 3");
	ExpectSameRows("SELECT t FROM shop.fact WHERE k BETWEEN 5000 AND 9000 AND n IS NOT NULL");
	ExpectSameRows("SELECT s.a, s.b[1] FROM shop.fact WHERE s.a % 3 = 0");
	ExpectSameRows("SELECT k FROM shop.fact WHERE s.a > 42000");
	ExpectSameRows("SELECT k FROM shop.fact WHERE t LIKE 'name 9%' OR t IN ('name 1', 'name 17')");
	ExpectSameRows("SELECT rowid FROM shop.fact WHERE rowid > 4000 AND rowid < 6200");
	ExpectSameRows("SELECT 1 FROM shop.fact");
}

TEST_F(NativeLeafTest, EveryTypeIsRead) {
	MakeFile(
		{"CREATE TYPE mood AS ENUM ('sad', 'ok')",
		 "CREATE TABLE typed AS SELECT range % 3 = 0 AS b, (range % 100)::TINYINT AS i8, range::HUGEINT AS i128, "
		 "range / 3 AS f, range::BIT AS bits, (range % 2)::BOOLEAN::VARCHAR::BLOB AS blob, DATE '2000-01-01' + "
		 "range::INTEGER AS d, TIMESTAMP '2000-01-01' + to_seconds(range) AS ts, to_days(range::INTEGER) AS iv, "
		 "CASE WHEN range % 2 = 0 THEN 'sad'::mood ELSE 'ok' END AS m, MAP {range: 'x'} AS map, "
		 "[range, range + 1]::BIGINT[2] AS pair, [{'x': [range]}] AS nested, repeat('long ', (range % 20)::INTEGER) "
		 "AS t, CASE WHEN range % 4 < 3 THEN range::VARCHAR END AS s FROM range(9000)"});
	ExpectSameRows("SELECT * FROM shop.typed");
	ExpectSameRows("SELECT m, nested[1].x, map FROM shop.typed WHERE m = 'ok' AND i128 > 100");
}

TEST_F(NativeLeafTest, DeletedAndUpdatedRowsAreRight) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT, "CHECKPOINT", "DELETE FROM fact WHERE k % 3 = 0",
			  "DELETE FROM fact WHERE k BETWEEN 2048 AND 4095", "UPDATE fact SET t = 'changed' WHERE k % 1000 = 1",
			  "INSERT INTO fact SELECT * REPLACE (k + 100000 AS k) FROM fact WHERE k < 3000"});
	ExpectSameRows("SELECT * FROM shop.fact");
	ExpectSameRows("SELECT k, rowid FROM shop.fact WHERE t = 'changed'");
	auto rows = Query("SELECT count(*) FROM shop.fact");
	Analyze("SELECT k FROM shop.fact",
			[&](const NativeLeaf &leaf) { EXPECT_EQ(Rows{std::to_string(leaf.total_rows) + "|"}, rows); });
}

TEST_F(NativeLeafTest, ColumnsOfEveryKind) {
	MakeFile(
		{"CREATE SCHEMA \"Odd.schema\"",
		 "CREATE TABLE \"Odd.schema\".\"a \"\"table\"\"\" (\"Ünique column\" BIGINT, half AS (\"Ünique column\" / 2), "
		 "w BIGINT DEFAULT 4, z VARCHAR)",
		 "INSERT INTO \"Odd.schema\".\"a \"\"table\"\"\" SELECT range, 5, 'z' || range FROM range(9000)",
		 "ALTER TABLE \"Odd.schema\".\"a \"\"table\"\"\" ADD COLUMN later INTEGER DEFAULT 3",
		 "ALTER TABLE \"Odd.schema\".\"a \"\"table\"\"\" DROP COLUMN w"});
	ExpectSameRows("SELECT * FROM shop.\"Odd.schema\".\"a \"\"table\"\"\"");
	ExpectSameRows("SELECT z, half FROM shop.\"Odd.schema\".\"a \"\"table\"\"\" WHERE half > 100 AND later = 3");
}

TEST_F(NativeLeafTest, UnitsAreTheRowGroupsThatFiltersLeave) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT, "CREATE TABLE none (k BIGINT)"});
	EXPECT_EQ(UnitsOf("SELECT k FROM shop.fact"), 11u);
	EXPECT_EQ(UnitsOf("SELECT k FROM shop.fact WHERE k BETWEEN 5000 AND 9000"), 3u);
	EXPECT_EQ(UnitsOf("SELECT k FROM shop.fact WHERE k = 5000"), 1u);
	EXPECT_EQ(UnitsOf("SELECT k FROM shop.none"), 0u);
	ExpectSameRows("SELECT k FROM shop.none");
	Analyze("SELECT k, d FROM shop.fact WHERE k < 2048 OR k > 19000", [&](const NativeLeaf &leaf) {
		EXPECT_EQ(leaf.Describe(leaf.units, 16), "SEQ_SCAN shop.fact row_groups=[0,9..10]");
		EXPECT_EQ(leaf.units[0].bytes, 2048u * (sizeof(int64_t) + sizeof(int32_t)));
	});
}

TEST_F(NativeLeafTest, OnlyItsUnitsAreRead) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT});
	auto variants = Variants("SELECT k FROM shop.fact", 11);
	ASSERT_EQ(variants.size(), 11u);
	for (size_t task = 0; task < variants.size(); task++) {
		auto rows = RunVariants({variants[task]});
		EXPECT_EQ(rows.size(), task < 10 ? 2048u : 1000u);
		EXPECT_EQ(rows[0], std::to_string(task * 2048) + "|");
	}
}

TEST_F(NativeLeafTest, AFileIsOpenedOnceWhileItIsUsedAndThenClosed) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT});
	std::optional<DatabaseVersion> version;
	Analyze("SELECT k FROM shop.fact", [&](const NativeLeaf &leaf) { version = leaf.scan.version; });
	auto path = (folder_ / "shop.db").string();
	Connection first(worker_.Instance()), second(worker_.Instance());
	first.BeginTransaction();
	second.BeginTransaction();
	auto use = DatabaseFiles::Open(*first.context, path, *version);
	auto other = DatabaseFiles::Open(*second.context, path, *version);
	EXPECT_EQ(&use->Database(), &other->Database());
	weak_ptr<AttachedDatabase> database = use->Database().shared_from_this();
	use.reset();
	EXPECT_FALSE(database.expired());
	other.reset();
	EXPECT_TRUE(database.expired());

	DatabaseFiles::KeepOpen(worker_.Instance());
	use = DatabaseFiles::Open(*first.context, path, *version);
	database = use->Database().shared_from_this();
	use.reset();
	EXPECT_FALSE(database.expired());
	EXPECT_EQ(&DatabaseFiles::Open(*second.context, path, *version)->Database(), database.lock().get());
}

TEST_F(NativeLeafTest, ManyTasksReadOneFileAtOnce) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT});
	auto expected = Query("SELECT count(*), sum(k), count(DISTINCT t) FROM shop.fact");
	auto variants = Variants("SELECT k, t FROM shop.fact", 4);
	auto whole = Variants("SELECT count(*), sum(k), count(DISTINCT t) FROM shop.fact", 1);
	std::atomic<int> right{0};
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++) {
		threads.emplace_back([&]() {
			FakeWorker worker;
			RegisterNativeSlice(worker.Instance());
			for (int round = 0; round < 5; round++) {
				right += worker.Run(whole[0]) == expected ? 1 : 0;
			}
		});
	}
	for (auto &thread : threads) {
		thread.join();
	}
	EXPECT_EQ(right, 20);
}

TEST_F(NativeLeafTest, ChangedFilesAreRefused) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT});
	auto variants = Variants("SELECT k FROM shop.fact", 2);
	EXPECT_EQ(RunVariants(variants).size(), 21480u);
	Query("DETACH shop");
	MakeFile({"INSERT INTO fact SELECT * FROM fact LIMIT 10"});
	EXPECT_NE(IOErrorOf(variants).find("shop.db\" changed between planning and reading"), std::string::npos);
	variants = Variants("SELECT k FROM shop.fact", 2);
	EXPECT_EQ(RunVariants(variants).size(), 21490u);

	// The same size and the same time, but another database.
	Query("DETACH shop");
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT}, "other.db");
	Query("DETACH shop");
	Query("ATTACH 'shop.db' AS shop (READ_ONLY)");
	variants = Variants("SELECT k FROM shop.fact", 1);
	auto time = fs::last_write_time("shop.db");
	auto size = fs::file_size("shop.db");
	fs::rename("other.db", "shop.db");
	fs::resize_file("shop.db", size);
	fs::last_write_time("shop.db", time);
	EXPECT_NE(IOErrorOf(variants).find("changed between planning and reading"), std::string::npos);
	fs::remove("shop.db");
	EXPECT_NE(IOErrorOf(variants).find("was there at planning"), std::string::npos);
}

TEST_F(NativeLeafTest, WhatTheSessionMustRead) {
	MakeFile({std::string("CREATE TABLE fact AS ") + FACT, "CREATE TABLE keyed (k BIGINT PRIMARY KEY, v BIGINT)",
			  "INSERT INTO keyed SELECT range, range FROM range(9000)"});
	Query("CREATE TABLE here (k BIGINT)");
	Query("CREATE TEMP TABLE temporary (k BIGINT)");
	Query("ATTACH 'open.db' AS open");
	Query("CREATE TABLE open.fact AS FROM shop.fact");
	EXPECT_EQ(ReasonAgainst("FROM here"), "tables of database \"memory\" are in the session's memory");
	EXPECT_EQ(ReasonAgainst("FROM temporary"), "temporary tables are read by the session");
	EXPECT_EQ(ReasonAgainst("FROM open.fact"),
			  "database \"open\" is open for writing; tables of files that are attached READ_ONLY are distributed");
	EXPECT_EQ(ReasonAgainst("SELECT v FROM shop.keyed WHERE k = 77"),
			  "rows of table \"keyed\" are looked up in an index");
	ExpectSameRows("SELECT v FROM shop.keyed WHERE k > 77");
	ExpectSameRows("SELECT k FROM shop.keyed WHERE v = 77");
	EXPECT_EQ(ReasonAgainst("FROM shop.fact TABLESAMPLE SYSTEM (10 PERCENT)"), "the scan takes a sample of its rows");
}

TEST_F(NativeLeafTest, AWriteAheadLogIsOnlyReadByTheSession) {
	{
		DuckDB writer("logged.db");
		Connection connection(writer);
		connection.Query("SET checkpoint_threshold = '1GB'");
		connection.Query("PRAGMA disable_checkpoint_on_shutdown");
		connection.Query("CREATE TABLE t AS SELECT range AS k FROM range(5000)");
	}
	ASSERT_TRUE(fs::exists("logged.db.wal"));
	Query("ATTACH 'logged.db' AS logged (READ_ONLY)");
	EXPECT_EQ(Query("SELECT count(*) FROM logged.t"), Rows{"5000|"});
	EXPECT_EQ(ReasonAgainst("FROM logged.t"),
			  "database \"logged\" has a write-ahead log, which only the session has read");

	MakeFile({std::string("CREATE TABLE fact AS ") + FACT});
	auto variants = Variants("SELECT k FROM shop.fact", 2);
	std::ofstream("shop.db.wal") << "";
	EXPECT_NE(IOErrorOf(variants).find("there is a write-ahead log beside it"), std::string::npos);
}

TEST_F(NativeLeafTest, AnEncryptedDatabaseIsReadByTheSession) {
	Query("SET force_mbedtls_unsafe = 'true'");
	Query("ATTACH 'secret.db' AS made (ENCRYPTION_KEY 'key')");
	Query("CREATE TABLE made.t AS SELECT range AS k FROM range(10)");
	Query("DETACH made");
	Query("ATTACH 'secret.db' AS secret (READ_ONLY, ENCRYPTION_KEY 'key')");
	EXPECT_EQ(ReasonAgainst("FROM secret.t"), "database \"secret\" is encrypted");
}

TEST_F(NativeLeafTest, TheSliceCannotBeCalledByHand) {
	auto result = connection_.Query("FROM skein_native_slice()");
	ASSERT_TRUE(result->HasError());
	EXPECT_EQ(result->GetErrorType(), ExceptionType::BINDER);
}

} // namespace
} // namespace skein
