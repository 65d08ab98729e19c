#include "engine/fake_worker.hpp"
#include "skein/skein.hpp"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace skein {
namespace {

using namespace duckdb;

//! A query over hive partitioned files, how many boundaries its plan has with 3 tasks, and whether a leaf of it is
//! dealt by value then.
struct ValueCase {
	const char *name;
	const char *sql;
	size_t boundaries;
	bool by_value;
};

//! By which GoogleTest names a case: not by its addresses.
void PrintTo(const ValueCase &value, std::ostream *out) {
	*out << value.name;
}

//! `sales` by region and day, of which one is NULL, 14 days of equal size; `returns` by day; `skewed` by day, one of
//! which has most of the rows; `numbered`, whose files have a column of the same name as their folders.
class DealingByValue : public ::testing::TestWithParam<ValueCase> {
protected:
	static void SetUpTestSuite() {
		folder_ = std::filesystem::temp_directory_path() / ("skein_by_value_" + std::to_string(getpid()));
		std::filesystem::create_directories(folder_);
		DuckDB plain(nullptr);
		Connection writer(plain);
		string day = "CASE WHEN i % 14 = 13 THEN NULL ELSE DATE '2024-02-20' + (i % 14)::INTEGER END AS day";
		Write(writer,
			  "SELECT i AS k, i % 1000 AS customer, i % 3 AS v, ['n/o', 's = t'][i % 2 + 1] AS region, " + day +
				  " FROM range(42000) t(i)",
			  "sales", "region, day");
		Write(writer, "SELECT i * 2 AS k, i % 700 AS amount, " + day + " FROM range(28000) t(i)", "returns", "day");
		Write(writer,
			  "SELECT i AS k, DATE '2024-02-20' + greatest(i % 20 - 10, 0)::INTEGER AS day FROM range(20000) t(i)",
			  "skewed", "day");
		Write(writer, "SELECT i AS k, i % 8 AS n, i % 8 * 0.5::DOUBLE AS x FROM range(8000) t(i)", "typed", "n, x");
		for (int n = 0; n < 6; n++) {
			auto path = folder_ / "numbered" / ("n=" + std::to_string(n));
			std::filesystem::create_directories(path);
			// The path counts, not the file. Not every file has all columns.
			Run(writer, "COPY (SELECT i AS k, 99 AS n" + string(n % 2 ? ", 'x' AS more" : "") +
							" FROM range(2000) t(i)) TO '" + (path / "1.parquet").string() + "'");
		}
	}
	static void TearDownTestSuite() {
		std::filesystem::remove_all(folder_);
	}

	DealingByValue() : db_(nullptr), connection_(db_) {
		Attach(*db_.instance);
		for (string table : {"sales", "returns", "skewed"}) {
			Run(connection_, "CREATE VIEW " + table + " AS FROM read_parquet('" + Pattern(table) + "')");
		}
		Run(connection_,
			"CREATE VIEW typed AS FROM read_parquet('" + Pattern("typed") + "', hive_types = {'x': DOUBLE})");
		Run(connection_,
			"CREATE VIEW texts AS FROM read_parquet('" + Pattern("returns") + "', hive_types = {'day': VARCHAR})");
		Run(connection_, "CREATE VIEW numbered AS FROM read_parquet('" + Pattern("numbered") +
							 "', hive_partitioning = true, union_by_name = true)");
		Run(connection_, "CREATE VIEW no_hive AS FROM read_parquet('" + Pattern("returns") +
							 "', hive_partitioning = false, filename = true)");
		Run(connection_, "SET threads = 2");
		Run(connection_, "SET skein_mode = 'force'");
		Run(connection_, "SET skein_workers = 3");
		// Small tables are not read by every task then.
		Run(connection_, "SET skein_join = 'shuffle'");
	}

	static string Pattern(const string &table) {
		return (folder_ / table / "**" / "*.parquet").string();
	}
	static void Write(Connection &writer, const string &sql, const string &table, const string &columns) {
		Run(writer, "COPY (" + sql + ") TO '" + (folder_ / table).string() + "' (FORMAT parquet, PARTITION_BY (" +
						columns + "))");
	}
	static duckdb::unique_ptr<MaterializedQueryResult> Run(Connection &connection, const string &sql) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << sql << "\n" << result->GetError();
		return result;
	}
	vector<string> SortedRows(const string &sql) {
		auto rows = RowsOf(*Run(connection_, sql));
		std::sort(rows.begin(), rows.end());
		return rows;
	}
	string Explain(const string &sql) {
		return Run(connection_, "EXPLAIN " + sql)->GetValue(1, 0).ToString();
	}
	static size_t Count(const string &text, const string &part) {
		size_t result = 0;
		for (auto at = text.find(part); at != string::npos; at = text.find(part, at + 1)) {
			result++;
		}
		return result;
	}

	static std::filesystem::path folder_;
	DuckDB db_;
	Connection connection_;
};

std::filesystem::path DealingByValue::folder_;

TEST_P(DealingByValue, NeedsNoMoreBoundariesAndGivesTheSameRows) {
	auto &param = GetParam();
	auto text = Explain(param.sql);
	EXPECT_EQ(Count(text, "[Stage "), param.boundaries) << text;
	EXPECT_EQ(Count(text, "dealt by [") > 0, param.by_value) << text;
	Run(connection_, "SET skein_mode = 'off'");
	auto expected = SortedRows(param.sql);
	ASSERT_FALSE(expected.empty());
	Run(connection_, "SET skein_mode = 'force'");
	for (string workers : {"1", "2", "3", "7"}) {
		Run(connection_, "SET skein_workers = " + workers);
		for (string join : {"shuffle", "broadcast", "auto"}) {
			Run(connection_, "SET skein_join = '" + join + "'");
			EXPECT_EQ(SortedRows(param.sql), expected) << workers << " tasks, " << join;
		}
	}
}

const ValueCase CASES[] = {
	{"GroupsOfThePartition", "SELECT day, count(*), sum(v) FROM sales GROUP BY day", 1, true},
	{"GroupsOfMoreThanThePartition", "SELECT region, day, customer, sum(v) FROM sales GROUP BY ALL", 1, true},
	{"DistinctAggregateOfAPartition", "SELECT day, count(DISTINCT customer) FROM sales GROUP BY day", 1, true},
	{"GroupsAboveABroadcastJoin",
	 "SELECT day, customer, count(*) FROM sales, (SELECT min(n) AS least FROM numbered) WHERE v > least GROUP BY ALL",
	 3, true},
	{"Distinct", "SELECT DISTINCT day, customer FROM sales", 1, true},
	{"WindowPartitionedByMore",
	 "SELECT k, row_number() OVER (PARTITION BY customer, day ORDER BY k) FROM sales WHERE k % 3 = 1", 1, true},
	{"GroupsAboveAWindow",
	 "SELECT day, max(r) FROM (SELECT day, rank() OVER (PARTITION BY day ORDER BY v) AS r FROM sales) GROUP BY day", 1,
	 true},
	{"Join", "SELECT s.k, r.amount FROM sales s JOIN returns r ON s.day = r.day AND s.k = r.k", 1, true},
	{"JoinThatNullsAreEqualIn",
	 "SELECT s.k, r.k FROM sales s JOIN returns r ON s.day IS NOT DISTINCT FROM r.day AND s.k = r.k", 1, true},
	{"OuterJoin", "SELECT s.k, r.k FROM sales s FULL JOIN returns r ON s.day = r.day AND s.k = r.k", 1, true},
	{"AntiJoin", "SELECT s.k FROM sales s WHERE NOT EXISTS (FROM returns r WHERE s.day = r.day AND s.k = r.k)", 1,
	 true},
	{"GroupsAboveAJoin",
	 "SELECT r.day, count(*), sum(amount) FROM sales s JOIN returns r ON s.day = r.day AND s.k = r.k GROUP BY r.day", 1,
	 true},
	{"JoinOfGroups",
	 "SELECT * FROM (SELECT day, sum(v) FROM sales GROUP BY day) s JOIN (SELECT day, sum(amount) FROM returns GROUP BY "
	 "day) r ON s.day = r.day",
	 1, true},
	{"JoinWithItselfByTwoColumns",
	 "SELECT count(*) FROM sales a JOIN sales b ON a.day = b.day AND a.region = b.region AND a.k = b.k", 1, true},
	{"JoinOfThree",
	 "SELECT a.k, b.amount, c.v FROM sales a JOIN returns b ON a.day = b.day AND a.k = b.k JOIN sales c ON c.day = "
	 "b.day AND c.k = b.k",
	 1, true},
	{"UnionOfGroups",
	 "SELECT day, sum(v) FROM sales GROUP BY day UNION ALL SELECT day, sum(amount) FROM returns GROUP BY day", 2, true},
	{"TheFilesOwnColumnIsHidden", "SELECT n, count(*), sum(k), any_value(more) FROM numbered GROUP BY n", 1, true},
	{"FilteredPartitions",
	 "SELECT day, sum(v) FROM sales WHERE day BETWEEN DATE '2024-02-22' AND DATE '2024-02-27' GROUP BY day", 1, true},
	{"AsManyTasksAsValuesAreLeft",
	 "SELECT day, sum(amount) FROM returns WHERE day BETWEEN DATE '2024-02-22' AND DATE '2024-02-23' GROUP BY day", 1,
	 true},
	{"CorrelatedSubquery",
	 "SELECT k, (SELECT max(amount) FROM returns r WHERE r.day = s.day AND r.k > s.k - 50) FROM sales s WHERE k % 97 = "
	 "1",
	 3, false},
	// What cannot be kept, or is not worth it, is shuffled.
	{"UngroupedIsInParts", "SELECT count(*), sum(v) FROM sales", 1, false},
	{"OtherGroups", "SELECT customer, sum(v) FROM sales GROUP BY customer", 2, false},
	{"GroupsOfAnExpression", "SELECT day + 1, sum(v) FROM sales GROUP BY day + 1", 2, false},
	{"OneDayHasMostRows", "SELECT day, count(*) FROM skewed GROUP BY day", 2, false},
	{"TooFewValues", "SELECT region, count(*) FROM sales GROUP BY region", 2, false},
	{"NoHivePartitions", "SELECT filename, count(*) FROM no_hive GROUP BY filename", 2, false},
	{"JoinByOtherColumns", "SELECT s.k FROM sales s JOIN returns r ON s.k = r.k", 3, false},
	{"JoinOfOtherTypes", "SELECT s.k FROM sales s JOIN texts r ON s.day::VARCHAR = r.day AND s.k = r.k", 3, false},
	{"JoinWithASideThatIsNotPartitioned", "SELECT s.k FROM sales s JOIN (SELECT k, n FROM numbered) r ON s.k = r.k", 3,
	 false},
	{"FloatingPointValues", "SELECT x, count(*) FROM typed GROUP BY x", 2, false},
	{"GroupingSets", "SELECT day, customer, sum(v) FROM sales GROUP BY ROLLUP (day, customer)", 2, false},
	{"WindowInTheOrderOfItsRows", "SELECT k FROM sales QUALIFY row_number() OVER (PARTITION BY day) > 0", 1, false},
};

INSTANTIATE_TEST_SUITE_P(Cases, DealingByValue, ::testing::ValuesIn(CASES),
						 [](const ::testing::TestParamInfo<ValueCase> &info) { return string(info.param.name); });

TEST_F(DealingByValue, BytesAreNotExchanged) {
	const string sql = "SELECT max(n) FROM (SELECT day, customer, k, count(*) AS n FROM sales GROUP BY ALL)";
	auto bytes = [&]() {
		Run(connection_, sql);
		return Run(connection_, "SELECT bytes_exchanged FROM skein_last_query()")->GetValue(0, 0).GetValue<int64_t>();
	};
	auto by_value = bytes();
	EXPECT_LT(by_value, 10000);
	Run(connection_, "CREATE OR REPLACE VIEW sales AS SELECT * REPLACE (day + 0 AS day) FROM read_parquet('" +
						 Pattern("sales") + "')");
	EXPECT_GT(bytes(), 100 * by_value);
}

TEST_F(DealingByValue, IsKeptFromThoseWhoWouldTakeUnitsOfOthers) {
	Run(connection_, "SET skein_work_stealing = 'force'");
	const string sql = "SELECT day, customer, count(*) FROM sales GROUP BY ALL";
	auto distributed = SortedRows(sql);
	Run(connection_, "SET skein_mode = 'off'");
	EXPECT_EQ(distributed, SortedRows(sql));
}

} // namespace
} // namespace skein
