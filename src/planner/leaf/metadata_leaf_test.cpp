#include "planner/leaf/leaf_fixture.hpp"

#include <fstream>

namespace skein {
namespace {

class MetadataLeafTest : public LeafTest {
protected:
	MetadataLeafTest() {
		Write("SELECT range AS k, 'x' || range AS s FROM range(5000)", "t/1.parquet",
			  ", ROW_GROUP_SIZE 2048, KV_METADATA {a: 'b', c: 'd'}");
		Write("SELECT range AS k, range * 2 AS v FROM range(100)", "t/2.parquet");
		Write("SELECT range AS k, [range] AS l FROM range(100)", "t/a [b]*? 'ü'.parquet");
	}
};

TEST_F(MetadataLeafTest, EachFunctionReadsItsFilesInTheirOrder) {
	for (auto function : {"parquet_metadata", "parquet_schema", "parquet_kv_metadata", "parquet_file_metadata",
						  "parquet_full_metadata"}) {
		auto from = std::string("SELECT * FROM ") + function;
		ExpectSameRows(from + "('t/*.parquet')");
		ExpectSameRows(from + "(['t/2.parquet', 't/1.parquet', 't/a [[]b]*.parquet', 't/2.parquet'])");
		ExpectSameRows(from + "('" + folder_.string() + "/t/1.parquet')");
	}
	ExpectSameRows("SELECT * FROM parquet_bloom_probe('t/*.parquet', 'k', 7)");
	ExpectSameRows("SELECT * FROM parquet_bloom_probe('t/*.parquet', 'k', 100000::BIGINT)");
	ExpectSameRows("SELECT num_values + 1 FROM parquet_metadata('t/*.parquet') WHERE path_in_schema = 'k'");
}

TEST_F(MetadataLeafTest, MoreRowsThanAChunk) {
	Write("SELECT range AS k FROM range(3000)", "wide.parquet", ", ROW_GROUP_SIZE 1, ROW_GROUPS_PER_FILE 3000");
	ExpectSameRows("SELECT row_group_id, file_name FROM parquet_metadata(['wide.parquet', 't/1.parquet'])");
}

TEST_F(MetadataLeafTest, AChangedFileIsAnError) {
	auto variants = Variants("SELECT * FROM parquet_schema('t/*.parquet')", 2);
	EXPECT_FALSE(RunVariants(variants).empty());
	Write("SELECT range AS k, range AS v FROM range(1000)", "t/2.parquet");
	auto message = IOErrorOf(variants);
	EXPECT_NE(message.find("changed between planning and reading: it had"), std::string::npos) << message;
	EXPECT_NE(message.find("t/2.parquet"), std::string::npos) << message;
	fs::remove("t/2.parquet");
	EXPECT_NE(IOErrorOf(variants).find("cannot be opened where it is to be read"), std::string::npos);
}

TEST_F(MetadataLeafTest, AnErrorNamesTheFileAsTheQueryDoes) {
	std::ofstream("t/3.parquet") << "no Parquet at all, but long enough for a footer";
	auto sql = "SELECT * FROM parquet_schema('t/3.parquet')";
	std::string expected;
	try {
		Query(sql);
	} catch (std::exception &ex) {
		expected = ErrorData(ex).RawMessage();
	}
	ASSERT_NE(expected.find("'t/3.parquet'"), std::string::npos) << expected;
	try {
		RunVariants(Variants(sql, 1));
		ADD_FAILURE() << "no error";
	} catch (std::exception &ex) {
		EXPECT_NE(ErrorData(ex).RawMessage().find(expected), std::string::npos) << ErrorData(ex).RawMessage();
	}
}

} // namespace
} // namespace skein
