#include "planner/leaf/parquet_leaf_fixture.hpp"

namespace skein {
namespace {

class ChangedFileTest : public ParquetLeafTest {
protected:
	ChangedFileTest() {
		Write("SELECT range AS k FROM range(5000)", "t/1.parquet", ", ROW_GROUP_SIZE 2048");
		Write("SELECT range AS k FROM range(5000)", "t/2.parquet", ", CODEC uncompressed");
		variants_ = Variants("SELECT k FROM 't/*.parquet'", 2);
	}

	void ExpectError(const std::string &expected) {
		auto message = IOErrorOf(variants_);
		EXPECT_NE(message.find(expected), std::string::npos) << message;
		EXPECT_NE(message.find("t/2.parquet"), std::string::npos) << message;
	}

	std::vector<std::string> variants_;
};

TEST_F(ChangedFileTest, UnchangedFilesAreRead) {
	EXPECT_EQ(RunVariants(variants_).size(), 10000u);
}

TEST_F(ChangedFileTest, AnotherSize) {
	Write("SELECT range AS k FROM range(6000)", "t/2.parquet");
	ExpectError("changed between planning and reading: it had");
}

TEST_F(ChangedFileTest, AnotherTime) {
	fs::last_write_time("t/2.parquet", fs::last_write_time("t/2.parquet") + std::chrono::hours(1));
	ExpectError("changed between planning and reading: it was last modified at");
}

TEST_F(ChangedFileTest, AnotherFooterOfTheSameSizeAndTime) {
	auto time = fs::last_write_time("t/2.parquet");
	auto size = fs::file_size("t/2.parquet");
	Write("SELECT range + 1 AS k FROM range(5000)", "t/2.parquet", ", CODEC uncompressed");
	ASSERT_EQ(fs::file_size("t/2.parquet"), size);
	fs::last_write_time("t/2.parquet", time);
	ExpectError("changed between planning and reading: its footer");
}

TEST_F(ChangedFileTest, Missing) {
	fs::remove("t/2.parquet");
	ExpectError("cannot be opened where it is to be read");
}

TEST_F(ChangedFileTest, Truncated) {
	fs::resize_file("t/2.parquet", 1000);
	ExpectError("changed between planning and reading: it had");
}

TEST_F(ChangedFileTest, Empty) {
	fs::resize_file("t/2.parquet", 0);
	ExpectError("changed between planning and reading: it had");
}

} // namespace
} // namespace skein
