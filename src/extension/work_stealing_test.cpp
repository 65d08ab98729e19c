#include "engine/fake_worker.hpp"
#include "skein/skein.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace skein {
namespace {

using namespace duckdb;

//! Tables of many small units, read by workers of which one is slow, with every chance to take units taken.
class WorkStealing : public ::testing::Test {
protected:
	static void SetUpTestSuite() {
		folder_ = std::filesystem::temp_directory_path() / ("skein_stealing_" + std::to_string(getpid()));
		std::filesystem::create_directories(folder_);
		DuckDB plain(nullptr);
		Connection writer(plain);
		for (int file = 0; file < 4; file++) {
			auto rows = "range(" + std::to_string(file * 8192) + ", " + std::to_string(file * 8192 + 8192) + ")";
			auto name = std::to_string(file);
			Run(writer, "COPY (SELECT range AS k, range % 97 AS g, (range * 7919) % 10007 AS v, 'name ' || range AS s "
						"FROM " +
							rows + ") TO '" + Path("facts" + name + ".parquet") + "' (ROW_GROUP_SIZE 2048)");
			Run(writer, "COPY (SELECT range AS k, " + string(file % 2 ? "range % 5 AS b" : "'x' || range AS a") +
							" FROM " + rows + ") TO '" + Path("by_name" + name + ".parquet") +
							"' (ROW_GROUP_SIZE 2048)");
		}
		Run(writer,
			"COPY (SELECT range AS k, range % 3 AS day, 'a b/' || (range % 4) AS place FROM range(20000)) TO '" +
				Path("hive") + "' (FORMAT parquet, PARTITION_BY (day, place))");
		Run(writer, "COPY (SELECT range AS k, range * 3 AS v, hash(range) AS h FROM range(192000)) TO '" +
						Path("sorted.parquet") + "' (ROW_GROUP_SIZE 8192)");
		Run(writer, "COPY (SELECT 132000 + 100 * range AS k FROM range(600)) TO '" + Path("tail.parquet") + "'");
		Run(writer, "COPY (SELECT range AS k, 'dim ' || range AS d FROM range(50)) TO '" + Path("dim.parquet") + "'");
		for (int file = 0; file < 12; file++) {
			auto rows = "range(" + std::to_string(file * 500) + ", " + std::to_string(file * 500 + 500) + ")";
			auto name = std::to_string(file);
			Run(writer, "COPY (SELECT range AS k, 'line one' || chr(10) || 'and \"two\", ' || range AS s, "
						"range / 4 AS v FROM " +
							rows + ") TO '" + Path("text" + name + ".csv") + "' (HEADER)");
			Run(writer, "COPY (SELECT range AS k, " + string(file % 2 ? "range AS b" : "'x' || range AS a") + " FROM " +
							rows + ") TO '" + Path("wide" + name + ".csv") + "' (HEADER)");
			Run(writer, "COPY (SELECT range AS k, {'a': range, 'b': ['x', 'y' || chr(10)]} AS st FROM " + rows +
							") TO '" + Path("lines" + name + ".json") + "'");
			Run(writer, "COPY (SELECT range AS k, 'v' || range AS s FROM " + rows + ") TO '" +
							Path("list" + name + ".json") + "' (ARRAY true)");
		}
		Run(writer, "ATTACH '" + Path("shop.db") + "' AS made (ROW_GROUP_SIZE 2048)");
		Run(writer, "CREATE TABLE made.sales AS SELECT range AS k, range % 97 AS g, 'sale ' || range AS s "
					"FROM range(40000)");
		Run(writer, "DELETE FROM made.sales WHERE k % 13 = 5 OR k BETWEEN 8192 AND 12287");
		Run(writer, "DETACH made");
		for (size_t i = 0; i < 7; i++) {
			WorkerOptions options;
			options.listen = "127.0.0.1:0";
			options.threads = 1;
			workers_.push_back(Worker::Start(options));
		}
	}
	static void TearDownTestSuite() {
		workers_.clear();
		std::filesystem::remove_all(folder_);
	}

	WorkStealing() : db_(nullptr), connection_(db_) {
		Attach(*db_.instance);
		Run(connection_, "SET threads = 4");
		Run(connection_, "SET preserve_insertion_order = false");
		Run(connection_, "SET skein_work_stealing = 'force'");
		auto view = [&](const string &name, const string &source) {
			Run(connection_, "CREATE VIEW " + name + " AS FROM " + source);
		};
		view("facts", "read_parquet('" + Path("facts*.parquet") + "', filename = true, file_row_number = true)");
		view("by_name", "read_parquet('" + Path("by_name*.parquet") + "', union_by_name = true)");
		view("hive", "read_parquet('" + Path("hive/*/*/*.parquet") + "', hive_partitioning = true)");
		view("dim", "'" + Path("dim.parquet") + "'");
		view("text", "read_csv('" + Path("text*.csv") + "', filename = true)");
		view("wide", "read_csv('" + Path("wide*.csv") + "', union_by_name = true, filename = true)");
		view("lines", "read_json('" + Path("lines*.json") + "', filename = true)");
		view("list", "read_json('" + Path("list*.json") + "')");
		Run(connection_, "ATTACH '" + Path("shop.db") + "' AS shop (READ_ONLY)");
		Run(connection_, "CREATE VIEW everything AS SELECT k, s FROM facts UNION ALL SELECT k, s FROM text "
						 "UNION ALL SELECT k, s FROM list");
	}

	//! Workers that have a thread each, so that a slow one holds up nobody else.
	void UseWorkers(size_t count) {
		string addresses;
		for (size_t i = 0; i < count; i++) {
			addresses += (i == 0 ? "" : ",") + workers_[i]->Address();
		}
		Run(connection_, "SET skein_cluster = '" + addresses + "'");
	}
	void SlowDown(size_t task) {
		Run(connection_, "SET skein_debug_unit_delay = '" + std::to_string(task) + ":5 ms'");
	}

	static string Path(const string &name) {
		return (folder_ / name).string();
	}
	static duckdb::unique_ptr<MaterializedQueryResult> Run(Connection &connection, const string &sql) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << sql << "\n" << result->GetError();
		return result;
	}
	static vector<string> Sorted(vector<string> rows) {
		std::sort(rows.begin(), rows.end());
		return rows;
	}

	//! How the tasks of a query shared its units.
	struct Shared {
		int64_t planned = 0;
		int64_t read = 0;
		//! Tasks that read more or less than they were dealt.
		int64_t changed = 0;
	};
	Shared LastShared() {
		auto result = Run(connection_, "SELECT coalesce(sum(units_planned), 0)::BIGINT, "
									   "coalesce(sum(units_read), 0)::BIGINT, "
									   "count(*) FILTER (units_planned <> units_read) FROM skein_tasks()");
		return {result->GetValue(0, 0).GetValue<int64_t>(), result->GetValue(1, 0).GetValue<int64_t>(),
				result->GetValue(2, 0).GetValue<int64_t>()};
	}

	//! Expects plain DuckDB's rows with 1, 2, 3 and 7 tasks, of which the first or the last is slow, and with workers
	//! inside of the process. Returns how the units were shared, all runs together.
	Shared ExpectSameRows(const string &sql) {
		Run(connection_, "SET skein_mode = 'off'");
		auto expected = Sorted(RowsOf(*Run(connection_, sql)));
		EXPECT_FALSE(expected.empty()) << sql;
		Run(connection_, "SET skein_mode = 'force'");
		Shared total;
		for (size_t workers : {1, 2, 3, 7}) {
			for (auto slow : {size_t(0), workers - 1}) {
				UseWorkers(workers);
				SlowDown(slow);
				ExpectRows(sql, expected, total);
			}
		}
		Run(connection_, "SET skein_cluster = ''");
		Run(connection_, "SET skein_workers = 3");
		ExpectRows(sql, expected, total);
		return total;
	}
	void ExpectRows(const string &sql, const vector<string> &expected, Shared &total) {
		auto rows = Sorted(RowsOf(*Run(connection_, sql)));
		EXPECT_EQ(rows, expected) << sql;
		auto distributed = Run(connection_, "SELECT distributed, reason FROM skein_last_query()");
		EXPECT_TRUE(distributed->GetValue(0, 0).GetValue<bool>()) << sql << distributed->ToString();
		auto shared = LastShared();
		EXPECT_LE(shared.read, shared.planned) << sql;
		total.planned += shared.planned;
		total.read += shared.read;
		total.changed += shared.changed;
	}
	//! And that every unit was read once, some of them by other tasks than planned.
	void ExpectAllShared(const string &sql) {
		auto shared = ExpectSameRows(sql);
		EXPECT_GT(shared.planned, 0) << sql;
		EXPECT_EQ(shared.read, shared.planned) << sql;
		EXPECT_GT(shared.changed, 0) << sql;
	}

	static std::filesystem::path folder_;
	static std::vector<std::unique_ptr<Worker>> workers_;
	DuckDB db_;
	Connection connection_;
};

std::filesystem::path WorkStealing::folder_;
std::vector<std::unique_ptr<Worker>> WorkStealing::workers_;

TEST_F(WorkStealing, ReadsEveryRowGroupOnce) {
	ExpectAllShared("SELECT g, count(*), sum(v), min(s), max(k) FROM facts GROUP BY g");
	ExpectAllShared("SELECT count(*), sum(k), count(DISTINCT s) FROM facts");
	ExpectAllShared("SELECT k, s, v FROM facts WHERE v % 3 = 0");
}

TEST_F(WorkStealing, KeepsWhatRowsSayOfTheirFiles) {
	ExpectAllShared("SELECT k, filename, file_row_number FROM facts");
	ExpectAllShared("SELECT file_index, count(*), min(k), max(k) FROM '" + Path("facts*.parquet") + "' GROUP BY 1");
	ExpectAllShared("SELECT filename, count(*), sum(k) FROM text GROUP BY filename");
	ExpectAllShared("SELECT file_index, filename, count(*) FROM '" + Path("lines*.json") + "' GROUP BY ALL");
}

TEST_F(WorkStealing, ReadsOnlyRowGroupsThatFiltersLeave) {
	ExpectAllShared("SELECT g, count(*) FROM facts WHERE k BETWEEN 3000 AND 21000 GROUP BY g");
	ExpectSameRows("SELECT count(*), min(k), max(k) FROM facts WHERE filename LIKE '%facts2.parquet'");
}

TEST_F(WorkStealing, ReadsFilesOfOtherSchemas) {
	ExpectAllShared("SELECT k, a, b FROM by_name");
	ExpectAllShared("SELECT k, a, b, filename FROM wide");
	ExpectAllShared("SELECT day + 1, upper(place), count(*), sum(k) FROM hive GROUP BY ALL");
	// Dealt by value, so that no task may have a unit of another.
	ExpectSameRows("SELECT day, place, count(*), sum(k) FROM hive GROUP BY day, place");
	ExpectSameRows("SELECT day, count(*), sum(k) FROM hive WHERE day = 1 AND place LIKE 'a%' GROUP BY day");
}

TEST_F(WorkStealing, ReadsTablesOfDatabaseFiles) {
	ExpectAllShared("SELECT k, s, rowid FROM shop.sales");
	ExpectAllShared("SELECT g, count(*), sum(k), min(s), max(rowid) FROM shop.sales WHERE k > 3000 GROUP BY g");
	ExpectAllShared("SELECT k, s FROM shop.sales UNION ALL SELECT k, s FROM facts");
	ExpectAllShared("SELECT g, count(*) FROM shop.sales JOIN dim ON g = dim.k GROUP BY g");
}

TEST_F(WorkStealing, ReadsTextFiles) {
	ExpectAllShared("SELECT k, s, v FROM text");
	ExpectAllShared("SELECT v % 10, count(*), sum(length(s)) FROM text GROUP BY ALL");
	ExpectAllShared("SELECT k, st.a, st.b FROM lines");
	ExpectAllShared("SELECT count(*), sum(k), max(s) FROM list");
}

TEST_F(WorkStealing, ReadsUnionsAndJoins) {
	ExpectSameRows("SELECT count(*), sum(k), min(s), max(s) FROM everything");
	ExpectSameRows("SELECT k % 10 AS g, count(*), max(s) FROM everything GROUP BY g");
	ExpectAllShared("SELECT d, count(*), sum(v) FROM facts JOIN dim ON facts.g = dim.k GROUP BY d");
	ExpectSameRows("SELECT facts.k, d FROM facts LEFT JOIN dim ON facts.k = dim.k WHERE facts.v < 3000");
	ExpectSameRows("SELECT count(*), sum(a.v) FROM facts a JOIN text b USING (k) WHERE b.v > 100");
	ExpectSameRows("SELECT g, (SELECT count(*) FROM dim WHERE dim.k < facts.g) FROM facts WHERE k % 100 = 0");
	ExpectSameRows("WITH c AS MATERIALIZED (SELECT g, sum(v) AS v FROM facts GROUP BY g) "
				   "SELECT a.g, a.v, b.v FROM c a JOIN c b ON a.g = b.g + 1");
	ExpectSameRows("SELECT g, k, row_number() OVER (PARTITION BY g ORDER BY k) FROM facts WHERE g < 5");
	ExpectSameRows("SELECT DISTINCT g, v % 5 FROM facts");
}

TEST_F(WorkStealing, EndsEarly) {
	ExpectSameRows("SELECT count(*) FROM (SELECT * FROM facts LIMIT 5000)");
	ExpectSameRows("SELECT count(*) FROM (SELECT * FROM facts WHERE v > 10 LIMIT 20)");
	ExpectSameRows("SELECT count(*) FROM (SELECT * FROM text LIMIT 7)");
	ExpectSameRows("SELECT k, s FROM facts ORDER BY k DESC LIMIT 10");
	ExpectSameRows("SELECT EXISTS (SELECT 1 FROM facts WHERE v = 17)");
}

TEST_F(WorkStealing, KeepsTheOrderOfRows) {
	Run(connection_, "SET preserve_insertion_order = true");
	UseWorkers(3);
	SlowDown(0);
	Run(connection_, "SET skein_mode = 'off'");
	string sql = "SELECT k, s FROM facts WHERE v % 2 = 0";
	auto expected = RowsOf(*Run(connection_, sql));
	Run(connection_, "SET skein_mode = 'force'");
	EXPECT_EQ(RowsOf(*Run(connection_, sql)), expected);
	EXPECT_EQ(LastShared().planned, 0);
}

TEST_F(WorkStealing, IsOffWhereTheSettingSaysSo) {
	Run(connection_, "SET skein_mode = 'force'");
	UseWorkers(3);
	SlowDown(0);
	string sql = "SELECT sum(v) FROM facts";
	Run(connection_, "SET skein_work_stealing = 'off'");
	Run(connection_, sql);
	EXPECT_EQ(LastShared().changed, 0);
	// The tables are too small for auto.
	Run(connection_, "SET skein_work_stealing = 'auto'");
	Run(connection_, sql);
	EXPECT_EQ(LastShared().planned, 0);
	EXPECT_TRUE(connection_.Query("SET skein_work_stealing = 'sometimes'")->HasError());
}

TEST_F(WorkStealing, TasksThatFiltersLeaveNothingHelpTheOthers) {
	// Keys of which planning knows nothing: it would leave out what they exclude.
	auto keys = "(SELECT k::VARCHAR::BIGINT AS k FROM '" + Path("tail.parquet") + "')";
	auto sql = "SELECT count(*), sum(v), max(h) FROM '" + Path("sorted.parquet") + "' JOIN " + keys + " USING (k)";
	Run(connection_, "SET skein_mode = 'off'");
	auto expected = RowsOf(*Run(connection_, sql));
	Run(connection_, "SET skein_mode = 'force'");
	Run(connection_, "SET skein_work_stealing = 'auto'");
	Run(connection_, "SET skein_join = 'broadcast'");
	UseWorkers(3);
	Run(connection_, "SET skein_debug_unit_delay = '2:30 ms'");
	// The filter that the join finds excludes all that the first two tasks have, long before the last one is done.
	EXPECT_EQ(RowsOf(*Run(connection_, sql)), expected);
	EXPECT_GT(LastShared().planned, 0);
	EXPECT_GT(LastShared().changed, 1);
	Run(connection_, "SET skein_work_stealing = 'force'");
	ExpectAllShared(sql);
}

TEST_F(WorkStealing, EndsWithTheErrorOfAUnit) {
	Run(connection_, "SET skein_mode = 'force'");
	SlowDown(0);
	for (size_t workers : {2, 3, 7}) {
		UseWorkers(workers);
		auto result = connection_.Query("SELECT sum(CASE WHEN k = 30000 THEN error('found it') ELSE k END) FROM facts");
		ASSERT_TRUE(result->HasError());
		EXPECT_NE(result->GetError().find("found it"), string::npos) << result->GetError();
	}
	ExpectAllShared("SELECT sum(v) FROM facts");
}

TEST_F(WorkStealing, EndsWhenItIsCancelled) {
	Run(connection_, "SET skein_mode = 'force'");
	UseWorkers(3);
	Run(connection_, "SET skein_debug_unit_delay = '0:300 ms'");
	// When the slow task reads its first unit and the others wait for an answer, or for what is left of it.
	Run(connection_, "SET skein_query_timeout = '0.2'");
	auto began = std::chrono::steady_clock::now();
	auto result = connection_.Query("SELECT sum(v) FROM facts");
	auto took = std::chrono::steady_clock::now() - began;
	EXPECT_TRUE(result->HasError());
	EXPECT_LT(took, std::chrono::seconds(5));
	Run(connection_, "SET skein_query_timeout = '0'");
	ExpectAllShared("SELECT sum(v) FROM facts");
	for (auto &worker : workers_) {
		EXPECT_EQ(worker->Status().running_tasks, 0u);
	}
}

TEST_F(WorkStealing, ExplainAnalyzeShowsPlannedAndActualUnits) {
	Run(connection_, "SET skein_mode = 'force'");
	UseWorkers(2);
	Run(connection_, "SET skein_debug_unit_delay = '0:20 ms'");
	auto text = Run(connection_, "EXPLAIN ANALYZE SELECT sum(v) FROM facts")->ToString();
	EXPECT_NE(text.find(" units of 8 planned"), string::npos) << text;
	EXPECT_EQ(text.find(" 8 units of 8 planned"), string::npos) << text;
}

} // namespace
} // namespace skein
