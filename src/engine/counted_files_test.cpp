#include "engine/counted_files.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

class CountedFilesTest : public testing::Test {
protected:
	CountedFilesTest() {
		auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
		folder_ =
			std::filesystem::temp_directory_path() / ("skein_counted_files_" + std::to_string(getpid()) + "_" + name);
		std::filesystem::create_directories(folder_);
	}
	~CountedFilesTest() override {
		std::filesystem::remove_all(folder_);
	}

	std::string File(const std::string &name) const {
		return (folder_ / name).string();
	}
	std::vector<std::string> Run(const std::string &sql, Connection &connection) {
		auto result = connection.Query(sql);
		EXPECT_FALSE(result->HasError()) << result->GetError();
		std::vector<std::string> rows;
		for (auto &row : *result) {
			rows.push_back(row.GetValue<std::string>(0));
		}
		return rows;
	}

	std::filesystem::path folder_;
	DuckDB database_{nullptr};
	Connection writer_{database_};
};

TEST_F(CountedFilesTest, AFileThatIsReadOnceCountsItsSize) {
	Run("COPY (SELECT range AS k, 'row ' || range AS s FROM range(10000)) TO '" + File("t.csv") + "'", writer_);
	Connection reader(database_);
	auto count = CountReadBytes(*reader.context);
	// With all options declared nothing is sniffed.
	auto sql = "SELECT sum(k) FROM read_csv('" + File("t.csv") +
			   "', auto_detect = false, header = true, columns = {k: BIGINT, s: VARCHAR})";
	EXPECT_EQ(Run(sql, reader), Run(sql, writer_));
	EXPECT_EQ(count->Get(), std::filesystem::file_size(File("t.csv")));
}

TEST_F(CountedFilesTest, ACompressedFileCountsWhatIsStored) {
	Run("COPY (SELECT range AS k, 'row ' || range AS s FROM range(10000)) TO '" + File("t.csv.gz") + "'", writer_);
	Connection reader(database_);
	auto count = CountReadBytes(*reader.context);
	auto sql = "SELECT sum(k) FROM read_csv('" + File("t.csv.gz") +
			   "', auto_detect = false, header = true, columns = {k: BIGINT, s: VARCHAR})";
	EXPECT_EQ(Run(sql, reader), Run(sql, writer_));
	// The head of the file is read while it is opened, once more when its reader starts over.
	constexpr std::uintmax_t HEAD = 64;
	EXPECT_GE(count->Get() + HEAD, std::filesystem::file_size(File("t.csv.gz")));
	EXPECT_LE(count->Get(), std::filesystem::file_size(File("t.csv.gz")) + HEAD);
}

TEST_F(CountedFilesTest, AScanOfParquetCountsTheColumnsItReads) {
	Run("COPY (SELECT range AS k, hash(range) AS h FROM range(100000)) TO '" + File("t.parquet") + "'", writer_);
	auto compressed = [&](const std::string &columns) {
		auto sum = Run("SELECT sum(total_compressed_size) FROM parquet_metadata('" + File("t.parquet") + "') WHERE " +
						   "path_in_schema IN (" + columns + ")",
					   writer_);
		return std::stoull(sum[0]);
	};
	Connection reader(database_);
	auto count = CountReadBytes(*reader.context);
	Run("SET enable_external_file_cache = false", reader);
	Run("SELECT bit_xor(hash(k)) FROM '" + File("t.parquet") + "'", reader);
	auto of_one = count->Get();
	EXPECT_GE(of_one, compressed("'k'"));
	EXPECT_LT(of_one, compressed("'k'") + compressed("'h'") / 2);
	Run("SELECT bit_xor(hash(k, h)) FROM '" + File("t.parquet") + "'", reader);
	EXPECT_GE(count->Get() - of_one, compressed("'k', 'h'"));
}

TEST_F(CountedFilesTest, OtherConnectionsDoNotCount) {
	Run("COPY (SELECT range AS k FROM range(1000)) TO '" + File("t.parquet") + "'", writer_);
	Connection reader(database_);
	auto count = CountReadBytes(*reader.context);
	Run("SELECT bit_xor(hash(k)) FROM '" + File("t.parquet") + "'", writer_);
	EXPECT_EQ(count->Get(), 0u);
}

TEST_F(CountedFilesTest, FilesThatAreWrittenAreAsBefore) {
	Connection both(database_);
	CountReadBytes(*both.context);
	for (std::string format : {"csv", "parquet", "json", "csv.gz"}) {
		auto name = File("t." + format);
		Run("COPY (SELECT range AS k FROM range(1000)) TO '" + name + "'", both);
		EXPECT_EQ(Run("SELECT sum(k) FROM '" + name + "'", both), std::vector<std::string>{"499500"}) << name;
	}
	EXPECT_TRUE(both.Query("FROM '" + File("missing.csv") + "'")->HasError());
}

} // namespace
} // namespace skein
