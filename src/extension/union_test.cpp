#include "engine/fake_worker.hpp"
#include "skein/skein.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <unistd.h>

namespace skein {
namespace {

using namespace duckdb;

//! Unions of children of any number and kind, dealt to tasks, against plain DuckDB.
class Unions : public ::testing::Test {
protected:
	static void SetUpTestSuite() {
		folder_ = std::filesystem::temp_directory_path() / ("skein_unions_" + std::to_string(getpid()));
		std::filesystem::create_directories(folder_);
		DuckDB plain(nullptr);
		Connection writer(plain);
		for (int file = 0; file < 3; file++) {
			auto rows = "range(" + std::to_string(file * 8192) + ", " + std::to_string(file * 8192 + 8192) + ")";
			Run(writer, "COPY (SELECT range AS k, range % 97 AS g, 'name ' || range AS s FROM " + rows + ") TO '" +
							Path("facts" + std::to_string(file) + ".parquet") + "' (ROW_GROUP_SIZE 2048)");
		}
		Run(writer, "COPY (SELECT range AS k, 'dim ' || range AS s FROM range(97)) TO '" + Path("dim.parquet") + "'");
	}
	static void TearDownTestSuite() {
		std::filesystem::remove_all(folder_);
	}

	Unions() : db_(nullptr), connection_(db_) {
		Attach(*db_.instance);
		Run(connection_, "SET threads = 2");
		Run(connection_, "SET preserve_insertion_order = false");
		Run(connection_, "CREATE VIEW facts AS FROM '" + Path("facts*.parquet") + "'");
		Run(connection_, "CREATE VIEW dim AS FROM '" + Path("dim.parquet") + "'");
	}

	static string Path(const string &name) {
		return (folder_ / name).string();
	}
	static duckdb::unique_ptr<MaterializedQueryResult> Run(Connection &connection, const string &sql) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << sql.substr(0, 1000) << "\n" << result->GetError();
		return result;
	}
	vector<string> SortedRows(const string &sql) {
		auto rows = RowsOf(*Run(connection_, sql));
		std::sort(rows.begin(), rows.end());
		return rows;
	}
	//! Expects plain DuckDB's rows with several numbers of tasks, from a distributed plan that has a DistributedUnion.
	void ExpectSameRows(const string &sql) {
		Run(connection_, "SET skein_mode = 'off'");
		auto expected = SortedRows(sql);
		EXPECT_FALSE(expected.empty()) << sql.substr(0, 1000);
		Run(connection_, "SET skein_mode = 'force'");
		for (auto workers : {1, 2, 3, 7}) {
			Run(connection_, "SET skein_workers = " + std::to_string(workers));
			EXPECT_EQ(SortedRows(sql), expected) << workers << " workers: " << sql.substr(0, 1000);
			auto last = Run(connection_, "SELECT distributed, reason FROM skein_last_query()");
			EXPECT_TRUE(last->GetValue(0, 0).GetValue<bool>()) << last->ToString();
		}
		EXPECT_NE(Explain(sql).find("DistributedUnion: t0:["), string::npos) << sql.substr(0, 1000);
	}
	string Explain(const string &sql) {
		return Run(connection_, "EXPLAIN " + sql)->GetValue(1, 0).ToString();
	}

	//! Of each child, how often the union of `sql` names it, and its longest and its shortest list of a task.
	struct Parts {
		std::map<size_t, size_t> by_child;
		size_t most = 0;
		size_t least = SIZE_MAX;
	};
	Parts PartsOf(const string &sql) {
		Parts parts;
		auto text = Explain(sql);
		const std::regex TASK(R"(t[0-9]+:\[([^\]]*)\])");
		const std::regex CHILD(R"(c([0-9]+)(\([0-9]+/[0-9]+\))?)");
		for (std::sregex_iterator task(text.begin(), text.end(), TASK), end; task != end; ++task) {
			auto list = (*task)[1].str();
			size_t count = 0;
			for (std::sregex_iterator child(list.begin(), list.end(), CHILD); child != end; ++child, ++count) {
				parts.by_child[std::stoul((*child)[1].str())]++;
			}
			parts.most = std::max(parts.most, count);
			parts.least = std::min(parts.least, count);
		}
		return parts;
	}

	static std::filesystem::path folder_;
	DuckDB db_;
	Connection connection_;
};

std::filesystem::path Unions::folder_;

string UnionOf(size_t children, const std::function<string(size_t)> &child) {
	string result;
	for (size_t i = 0; i < children; i++) {
		result += (i == 0 ? "" : " UNION ALL ") + ("(" + child(i) + ")");
	}
	return result;
}

TEST_F(Unions, OfFiveHundredChildrenReadEachOnce) {
	auto sql = "SELECT count(*), sum(k), min(s), max(c) FROM (" +
			   UnionOf(500,
					   [](size_t i) {
						   auto number = std::to_string(i);
						   return "SELECT k, s, " + number + " AS c FROM facts WHERE k % 500 = " + number;
					   }) +
			   ")";
	ExpectSameRows(sql);
	auto parts = PartsOf(sql);
	ASSERT_EQ(parts.by_child.size(), 500u);
	for (auto &[child, count] : parts.by_child) {
		EXPECT_EQ(count, 1u) << child;
	}
	// Children of one weight: none of the 7 tasks has more than one more than another.
	EXPECT_LE(parts.most, parts.least + 1);
	EXPECT_EQ(parts.least, 71u);
}

TEST_F(Unions, MoreChildrenThanTasksOfEveryKind) {
	for (string what : {"count(*), sum(k), max(s)", "k % 5, count(*), min(s)"}) {
		SCOPED_TRACE(what);
		auto sql = "SELECT " + what +
				   " FROM ("
				   "SELECT k, s FROM facts WHERE g < 50 UNION ALL "
				   "(SELECT k, s FROM facts ORDER BY s DESC LIMIT 1234) UNION ALL "
				   "(SELECT k, s FROM facts ORDER BY k LIMIT 100 OFFSET 77) UNION ALL "
				   "SELECT g, min(s) FROM facts GROUP BY g UNION ALL "
				   "SELECT sum(k)::BIGINT, max(s) FROM facts UNION ALL "
				   "SELECT f.k, d.s FROM facts f JOIN dim d ON f.g = d.k UNION ALL "
				   "SELECT a.k, b.s FROM facts a JOIN facts b ON a.k = b.k + 1 UNION ALL "
				   "SELECT DISTINCT g, 'one' FROM facts UNION ALL "
				   "SELECT row_number() OVER (PARTITION BY g ORDER BY k), s FROM facts UNION ALL "
				   "SELECT k, s FROM dim UNION ALL SELECT k, s FROM facts WHERE k < 0 UNION ALL SELECT 17, NULL)" +
				   (what[0] == 'k' ? " GROUP BY 1" : "");
		ExpectSameRows(sql);
	}
}

TEST_F(Unions, InUnionsAndBelowJoins) {
	ExpectSameRows("SELECT count(*), sum(k) FROM (SELECT k FROM facts UNION ALL (SELECT k + 1 FROM (SELECT k FROM dim "
				   "UNION ALL (SELECT g FROM facts UNION ALL SELECT k FROM facts WHERE k % 3 = 0))))");
	ExpectSameRows("SELECT d.s, count(*) FROM (SELECT g FROM facts UNION ALL SELECT k FROM dim UNION ALL SELECT k % 97 "
				   "FROM facts) u JOIN dim d ON u.g = d.k GROUP BY ALL");
	ExpectSameRows("SELECT g, count(*) FROM (SELECT g FROM facts UNION SELECT k FROM dim UNION SELECT k FROM facts) "
				   "GROUP BY g");
}

TEST_F(Unions, DealTasksByWeightAndDrawChildrenInOrder) {
	Run(connection_, "SET skein_mode = 'force'");
	Run(connection_, "SET skein_workers = 5");
	auto text = Explain("SELECT count(*) FROM (SELECT s FROM facts UNION ALL SELECT s FROM dim)");
	EXPECT_NE(text.find("DistributedUnion: t0:[c0(0/4)] t1:[c0(1/4)] t2:[c0(2/4)] t3:[c0(3/4)] t4:[c1]\n"),
			  string::npos)
		<< text;
	EXPECT_LT(text.find("facts0.parquet"), text.find("dim.parquet")) << text;
}

} // namespace
} // namespace skein
