#include "planner/leaf/parquet_leaf_fixture.hpp"

#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"

#include <fstream>
#include <sys/resource.h>

namespace skein {
namespace {

TEST_F(ParquetLeafTest, KnowsRowGroupsAndBytes) {
	WriteFacts();
	Analyze("SELECT * FROM 'facts/*.parquet'", [&](ClientContext &, LogicalGet &, ParquetLeaf &leaf) {
		ASSERT_EQ(leaf.files.size(), 3u);
		EXPECT_EQ(leaf.files[0].row_group_count, 5u);
		EXPECT_EQ(leaf.files[1].row_group_count, 1u);
		EXPECT_EQ(leaf.files[2].row_group_count, 4u);
		EXPECT_EQ(leaf.units.size(), 10u);
		EXPECT_EQ(leaf.total_rows, 19192u);
		EXPECT_EQ(leaf.files[0].path, "facts/1.parquet");
		EXPECT_EQ(leaf.files[0].OpenPath(), (folder_ / "facts/1.parquet").string());
		EXPECT_EQ(leaf.files[0].version.size, fs::file_size("facts/1.parquet"));
	});
}

TEST_F(ParquetLeafTest, CountsTheBytesOfTheProjectedColumns) {
	WriteFacts();
	auto bytes_of = [&](const std::string &columns) {
		auto rows = Query("SELECT sum(total_compressed_size) FROM parquet_metadata('facts/*.parquet') WHERE "
						  "path_in_schema IN (" +
						  columns + ")");
		return std::stoull(rows[0]);
	};
	const std::pair<std::string, std::string> cases[] = {
		{"SELECT v, s FROM 'facts/*.parquet'", "'v', 's'"},
		{"SELECT v FROM 'facts/*.parquet' WHERE n >= 0", "'v', 'n'"},
		{"SELECT st FROM 'facts/*.parquet'", "'st, a', 'st, b, list, element'"},
		{"SELECT st.a FROM 'facts/*.parquet'", "'st, a'"},
	};
	for (auto &[sql, columns] : cases) {
		auto expected = bytes_of(columns);
		Analyze(sql, [&, &sql = sql](ClientContext &, LogicalGet &, ParquetLeaf &leaf) {
			EXPECT_EQ(leaf.total_bytes, expected) << sql;
		});
	}
	Analyze("SELECT count(*) FROM 'facts/*.parquet'", [&](ClientContext &, LogicalGet &, ParquetLeaf &leaf) {
		EXPECT_EQ(leaf.total_bytes, 0u);
		EXPECT_EQ(leaf.total_rows, 19192u);
	});
}

TEST_F(ParquetLeafTest, VariantsTogetherAreTheWholeScan) {
	WriteFacts();
	for (auto sql : {
			 "SELECT * FROM 'facts/*.parquet'",
			 "SELECT s, k FROM 'facts/*.parquet'",
			 "SELECT k + v, upper(s) FROM 'facts/*.parquet'",
			 "SELECT 1 FROM 'facts/*.parquet'",
			 "SELECT st.a FROM 'facts/*.parquet'",
			 "SELECT st.b[2], d FROM 'facts/*.parquet' WHERE st.a = 3",
			 "SELECT k FROM read_parquet(['facts/3.parquet', 'facts/1.parquet', 'facts/3.parquet'])",
			 "SELECT k FROM 'facts/2.parquet'",
			 "SELECT k FROM 'facts/1.parquet'",
		 }) {
		ExpectSameRows(sql);
	}
}

TEST_F(ParquetLeafTest, FiltersAreAppliedInTheVariants) {
	WriteFacts();
	for (auto filter : {
			 "k >= 5000 AND k < 13000",
			 "k = 10500",
			 "k > 100000",
			 "v BETWEEN 10 AND 20",
			 "s = 'name 17'",
			 "s LIKE 'name 99%'",
			 "s IN ('name 1', 'name 500')",
			 "n IS NULL",
			 "n IS NOT NULL AND g = 3",
			 "n IS DISTINCT FROM 5",
			 "d > DATE '2020-05-01' AND d < DATE '2020-06-01'",
			 "k IN (1, 2, 9000, 19000)",
			 "g = 1 OR v = 7",
			 "k % 1000 = 5",
			 "length(s) = 6 AND k < 4000",
		 }) {
		ExpectSameRows("SELECT v FROM 'facts/*.parquet' WHERE " + std::string(filter));
		ExpectSameRows("SELECT k, s FROM 'facts/*.parquet' WHERE " + std::string(filter));
	}
}

TEST_F(ParquetLeafTest, StatisticsRuleOutRowGroups) {
	WriteFacts();
	const std::tuple<std::string, size_t> cases[] = {
		{"k >= 5000 AND k < 6000", 1},
		{"k < 2048", 1},
		{"k = 10500", 1},
		{"k >= 10240", 5},
		{"n < 100", 1},
		{"v >= 0", 10},
		{"k IN (5, 19000)", 2},
		{"d > DATE '2020-06-15'", 2},
		{"s BETWEEN 'name' AND 'x'", 10},
		{"k > 100000", 0},
		{"g = 1 OR v = 7", 10},
	};
	for (auto &[filter, units] : cases) {
		Analyze("SELECT v FROM 'facts/*.parquet' WHERE " + filter,
				[&, &filter = filter, &units = units](ClientContext &, LogicalGet &, ParquetLeaf &leaf) {
					EXPECT_EQ(leaf.units.size(), units) << filter;
					EXPECT_EQ(leaf.files.size(), 3u);
				});
	}
}

TEST_F(ParquetLeafTest, LongStringsRuleOutRowGroups) {
	Write("SELECT printf('Customer#%09d', range) AS c FROM range(8192)", "c.parquet", ", ROW_GROUP_SIZE 2048");
	Analyze("SELECT c FROM 'c.parquet' WHERE c = 'Customer#000005000'",
			[&](ClientContext &, LogicalGet &, ParquetLeaf &leaf) { EXPECT_EQ(leaf.units.size(), 1u); });
	ExpectSameRows("SELECT c FROM 'c.parquet' WHERE c >= 'Customer#000005000' AND c < 'Customer#000005003'");
}

TEST_F(ParquetLeafTest, VirtualColumnsAreThoseOfTheWholeScan) {
	WriteFacts();
	for (auto sql : {
			 "SELECT filename, file_row_number, file_index, k FROM 'facts/*.parquet'",
			 "SELECT file_index FROM 'facts/*.parquet'",
			 "SELECT filename FROM 'facts/*.parquet' WHERE k % 1000 = 0",
			 "SELECT k, file_index FROM 'facts/*.parquet' WHERE file_index >= 1",
			 "SELECT k, file_row_number FROM 'facts/*.parquet' WHERE file_row_number > 5000",
			 "SELECT k FROM 'facts/*.parquet' WHERE filename = 'facts/2.parquet'",
			 "SELECT k, filename FROM 'facts/*.parquet' WHERE filename LIKE '%3.parquet' AND k < 12000",
			 "SELECT * FROM read_parquet('facts/*.parquet', filename=true)",
			 "SELECT origin, k FROM read_parquet('facts/*.parquet', filename='origin') WHERE origin > 'facts/2'",
			 "SELECT k, file_row_number FROM read_parquet('facts/*.parquet', file_row_number=true)",
			 "SELECT k, file_index FROM read_parquet('facts/*.parquet', filename=true) WHERE filename > 'facts/2'",
			 "SELECT file_row_number, k FROM read_parquet('facts/*.parquet', file_row_number=true) "
			 "WHERE file_row_number BETWEEN 700 AND 3000",
		 }) {
		ExpectSameRows(sql);
	}
}

TEST_F(ParquetLeafTest, FiltersOnTheFileNameRuleOutItsRowGroups) {
	WriteFacts();
	Analyze("SELECT k FROM 'facts/*.parquet' WHERE filename = 'facts/2.parquet'",
			[&](ClientContext &, LogicalGet &, ParquetLeaf &leaf) { EXPECT_EQ(leaf.units.size(), 1u); });
	Analyze("SELECT k FROM 'facts/*.parquet' WHERE file_row_number > 8000",
			[&](ClientContext &, LogicalGet &, ParquetLeaf &leaf) { EXPECT_EQ(leaf.units.size(), 3u); });
}

TEST_F(ParquetLeafTest, HivePartitions) {
	Query("COPY (SELECT range AS k, 2020 + range % 3 AS year, DATE '2021-01-01' + (range % 2)::INT AS day, "
		  "CASE range % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a/b c' WHEN 2 THEN 'ü%' ELSE '007' END AS tag "
		  "FROM range(5000)) TO 'hive' (FORMAT parquet, PARTITION_BY (year, day, tag))");
	for (auto sql : {
			 "SELECT * FROM 'hive/**/*.parquet'",
			 "SELECT k, year, typeof(year), day, typeof(day), tag FROM 'hive/**/*.parquet' WHERE k < 100",
			 "SELECT k, tag FROM 'hive/**/*.parquet' WHERE year = 2021 AND tag = 'a/b c'",
			 "SELECT k FROM 'hive/**/*.parquet' WHERE tag IS NULL",
			 "SELECT k, file_index FROM 'hive/**/*.parquet' WHERE day = DATE '2021-01-02' AND k < 300",
			 "SELECT k FROM 'hive/**/*.parquet' WHERE year = 1999",
			 "SELECT year FROM 'hive/**/*.parquet'",
			 "SELECT * FROM read_parquet('hive/**/*.parquet', hive_partitioning=false)",
			 "SELECT year, tag, k FROM read_parquet('hive/**/*.parquet', hive_types={'year': 'VARCHAR'})",
			 "SELECT year, day FROM read_parquet('hive/**/*.parquet', hive_types_autocast=false) WHERE k < 50",
			 "SELECT * FROM read_parquet('hive/**/*.parquet', filename=true, union_by_name=true) WHERE k % 500 = 3",
		 }) {
		ExpectSameRows(sql);
	}
}

TEST_F(ParquetLeafTest, FoldersAboveTheRelativePathAreNoPartitions) {
	fs::create_directories("run=5");
	fs::current_path("run=5");
	folder_ = fs::current_path();
	Write("SELECT range AS k FROM range(3000)", "year=2020/a.parquet", ", ROW_GROUP_SIZE 2048");
	ExpectSameRows("SELECT k, year, filename FROM '*/*.parquet'");
	folder_ = folder_.parent_path();
}

TEST_F(ParquetLeafTest, UnionByName) {
	Write("SELECT range AS a, 'x' AS b FROM range(3000)", "u/1.parquet", ", ROW_GROUP_SIZE 2048");
	Write("SELECT range::DOUBLE AS a, range AS c FROM range(100)", "u/2.parquet");
	Write("SELECT 'text' AS c, NULL::INT AS b FROM range(10)", "u/3.parquet");
	for (auto sql : {
			 "SELECT * FROM read_parquet('u/*.parquet', union_by_name=true)",
			 "SELECT c FROM read_parquet('u/*.parquet', union_by_name=true)",
			 "SELECT a, c, filename FROM read_parquet('u/*.parquet', union_by_name=true) WHERE b IS NULL",
			 "SELECT a FROM read_parquet('u/*.parquet', union_by_name=true) WHERE a > 90",
			 "SELECT b FROM read_parquet('u/*.parquet', union_by_name=true) WHERE c = '7'",
			 "SELECT 1 FROM read_parquet('u/*.parquet', union_by_name=true)",
		 }) {
		ExpectSameRows(sql);
	}
}

TEST_F(ParquetLeafTest, FilesOfDifferentSchemas) {
	Write("SELECT range::INT AS a, 'x' AS b, {'p': 1, 'q': 2} AS s FROM range(3000)", "m/1.parquet");
	Write("SELECT {'q': 5, 'p': 4, 'r': 6} AS s, 'y' AS b, 7 AS extra, range::BIGINT AS a FROM range(3000)",
		  "m/2.parquet", ", ROW_GROUP_SIZE 2048");
	Write("SELECT range::TINYINT AS a, 'z' AS B, {'q': 1} AS s FROM range(100)", "m/3.parquet");
	for (auto sql : {
			 "SELECT * FROM 'm/*.parquet'",
			 "SELECT s.q, a FROM 'm/*.parquet' WHERE a BETWEEN 50 AND 60",
			 "SELECT b, s.p FROM 'm/*.parquet' WHERE b >= 'y'",
		 }) {
		ExpectSameRows(sql);
	}
}

TEST_F(ParquetLeafTest, AColumnMissingWithoutUnionByNameIsLeftToDuckDB) {
	Write("SELECT 1 AS a, 2 AS b", "m/1.parquet");
	Write("SELECT 1 AS a", "m/2.parquet");
	EXPECT_NE(ReasonAgainst("SELECT b FROM 'm/*.parquet'").find("\"b\""), std::string::npos);
	ExpectSameRows("SELECT a FROM 'm/*.parquet'");
}

TEST_F(ParquetLeafTest, AnUnreadableFileIsLeftToDuckDB) {
	Write("SELECT 1 AS a", "m/1.parquet");
	std::ofstream("m/2.parquet") << "this is no Parquet file";
	EXPECT_NE(ReasonAgainst("SELECT a FROM 'm/*.parquet'").find("m/2.parquet"), std::string::npos);
}

TEST_F(ParquetLeafTest, AggregatesByHivePartition) {
	Query("COPY (SELECT range AS k, range % 5 AS p FROM range(5000)) TO 'hive' (FORMAT parquet, PARTITION_BY p)");
	auto sql = "SELECT p, sum(k), count(*) FROM 'hive/**/*.parquet' GROUP BY p ORDER BY p";
	EXPECT_EQ(RunVariants(Variants(sql, 1)), Query(sql));
}

TEST_F(ParquetLeafTest, SchemaByFieldIds) {
	Write("SELECT range AS i, 'v' || range AS t FROM range(5000)", "f/1.parquet",
		  ", ROW_GROUP_SIZE 2048, FIELD_IDS {i: 10, t: 20}");
	Write("SELECT 'w' AS other, range AS j FROM range(50)", "f/2.parquet", ", FIELD_IDS {other: 20, j: 10}");
	const std::string schema = "schema=MAP {20: {name: 'text', type: 'VARCHAR', default_value: NULL}, "
							   "10: {name: 'number', type: 'INTEGER', default_value: NULL}, "
							   "30: {name: 'extra', type: 'VARCHAR', default_value: 'none'}}";
	ExpectSameRows("SELECT * FROM read_parquet('f/*.parquet', " + schema + ")");
	ExpectSameRows("SELECT extra, text FROM read_parquet('f/*.parquet', " + schema + ") WHERE number % 100 = 3");
	ExpectSameRows("SELECT * FROM read_parquet('f/*.parquet', file_row_number=true, filename=true, " + schema +
				   ") WHERE number < 20");
}

TEST_F(ParquetLeafTest, FilesWithoutRows) {
	Write("SELECT range AS k FROM range(10) LIMIT 0", "e/1.parquet");
	Write("SELECT range AS k FROM range(10)", "e/2.parquet");
	Write("SELECT range AS k FROM range(10) LIMIT 0", "e/3.parquet");
	ExpectSameRows("SELECT k, file_index FROM 'e/*.parquet'");
	ExpectSameRows("SELECT k FROM 'e/1.parquet'");
	ExpectSameRows("SELECT 1 FROM 'e/3.parquet'");
}

TEST_F(ParquetLeafTest, AnEmptySliceHasNoRows) {
	WriteFacts();
	Analyze("SELECT k FROM 'facts/*.parquet'", [&](ClientContext &context, LogicalGet &get, ParquetLeaf &leaf) {
		auto slice = leaf.MakeVariant(context, get, {});
		EXPECT_EQ(slice->EstimateCardinality(context), 0u);
		EXPECT_TRUE(RunVariants({SerializePlan(context, *slice)}).empty());
	});
}

TEST_F(ParquetLeafTest, OddFileNames) {
	int number = 0;
	for (auto name : {"a[1]", "a1", "with space", "quo'te", "dou\"ble", "stern*", "frage?", "ümläut 日本", "{brace}",
					  "per%20cent", "back\\slash", "new\nline", "hash#tag", "a=b"}) {
		Write("SELECT range + " + std::to_string(1000 * number++) + " AS k FROM range(10)",
			  "odd/" + std::string(name) + ".parquet");
	}
	ExpectSameRows("SELECT k, filename FROM 'odd/*.parquet'");
	ExpectSameRows("SELECT k, filename FROM '" + folder_.string() + "/odd/*.parquet'");
	ExpectSameRows("SELECT k, filename FROM 'odd/../odd/./a1.parquet'");
}

TEST_F(ParquetLeafTest, AllTypes) {
	Write("SELECT * EXCLUDE (medium_enum, large_enum, bit, \"union\"), range AS k FROM test_all_types(), range(1000)",
		  "types.parquet", ", ROW_GROUP_SIZE 2048");
	ExpectSameRows("SELECT * FROM 'types.parquet' WHERE k % 50 = 0");
	for (auto filter :
		 {"tinyint = 127", "ubigint > 5", "hugeint < 0", "dec_18_6 > 0", "float > 0", "double > 0",
		  "date > DATE '2000-01-01'", "timestamp_tz < now()", "varchar = 'goo\\0se'", "blob IS NOT NULL", "bool",
		  "uuid > '80000000-0000-0000-0000-000000000000'", "\"time\" > TIME '01:00:00'", "small_enum = 'GOOSE'"}) {
		ExpectSameRows("SELECT k, tinyint FROM 'types.parquet' WHERE " + std::string(filter));
	}
}

TEST_F(ParquetLeafTest, ManyFilesOnFewFileHandles) {
	rlimit before;
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	rlimit few{200, before.rlim_max};
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	Write("SELECT 1 AS k", "many/0.parquet");
	for (int i = 1; i < 1500; i++) {
		fs::copy_file("many/0.parquet", "many/" + std::to_string(i) + ".parquet");
	}
	auto variants = Variants("SELECT k FROM 'many/*.parquet'", 3);
	EXPECT_EQ(RunVariants(variants).size(), 1500u);
	setrlimit(RLIMIT_NOFILE, &before);
	EXPECT_LT(variants[0].size(), 500 * 150u);
}

TEST_F(ParquetLeafTest, SlicesKnowTheirRows) {
	WriteFacts();
	Analyze("SELECT k FROM 'facts/*.parquet'", [&](ClientContext &context, LogicalGet &get, ParquetLeaf &leaf) {
		idx_t rows = 0;
		for (auto &units : DealUnits(leaf.units, 3)) {
			auto slice = leaf.MakeVariant(context, get, units);
			auto statistics = slice->function.cardinality(context, slice->bind_data.get());
			EXPECT_EQ(statistics->max_cardinality, statistics->estimated_cardinality);
			rows += statistics->estimated_cardinality;
			EXPECT_FALSE(slice->function.statistics);
			EXPECT_FALSE(slice->function.get_partition_stats);
			EXPECT_TRUE(slice->function.filter_pushdown);
			EXPECT_TRUE(slice->function.filter_prune);
			EXPECT_TRUE(slice->function.projection_pushdown);
		}
		EXPECT_EQ(rows, 19192u);
	});
}

TEST_F(ParquetLeafTest, AJoinFiltersTheSlice) {
	WriteFacts();
	Write("SELECT range * 700 AS k, range % 5 AS d FROM range(28)", "dim.parquet");
	auto sql = "SELECT f.k, f.s FROM 'facts/*.parquet' f JOIN 'dim.parquet' d USING (k) WHERE d.d < 2";
	auto dimension = folder_.string() + "/dim.parquet";
	auto absolute = StringUtil::Replace(sql, "'dim.parquet'", "'" + dimension + "'");
	auto expected = Sorted(Query(absolute));
	for (size_t tasks : {1, 3, 7}) {
		auto rows = RunVariants(Variants(absolute, tasks), [](LogicalOperator &plan) {
			auto get = Find<LogicalGet>(plan, LogicalOperatorType::LOGICAL_GET);
			ASSERT_EQ(get->function.name, "skein_parquet_slice");
			EXPECT_TRUE(get->dynamic_filters);
		});
		EXPECT_EQ(Sorted(rows), expected) << tasks;
	}
}

TEST_F(ParquetLeafTest, ATopNFiltersTheSlice) {
	WriteFacts();
	auto sql = "SELECT k, s FROM 'facts/*.parquet' WHERE g <> 3 ORDER BY k LIMIT 5";
	auto variants = Variants(sql, 3);
	auto rows = RunVariants(variants, [](LogicalOperator &plan) {
		auto get = Find<LogicalGet>(plan, LogicalOperatorType::LOGICAL_GET);
		EXPECT_EQ(get->table_filters.filters.at(0)->ToString("k"), "optional: Dynamic Filter (k)");
	});
	ASSERT_EQ(rows.size(), 15u);
	EXPECT_EQ(Rows(rows.begin(), rows.begin() + 5), Query(sql));
}

TEST_F(ParquetLeafTest, HivePartitionsAreFilteredByAJoin) {
	Query(
		"COPY (SELECT range AS k, range % 10 AS part FROM range(5000)) TO 'hive' (FORMAT parquet, PARTITION_BY part)");
	auto sql = "SELECT k, part, file_index FROM 'hive/**/*.parquet' JOIN (SELECT range AS part FROM range(2, 100, 3)) "
			   "USING (part)";
	// DuckDB counts files after a join has excluded some; the index is compared by what it says about the file.
	auto rows = Sorted(RunVariants(Variants("SELECT k, part FROM (" + std::string(sql) + ")", 3)));
	EXPECT_EQ(rows, Sorted(Query("SELECT k, part FROM (" + std::string(sql) + ")")));
}

TEST_F(ParquetLeafTest, OtherScansAreRefused) {
	WriteFacts();
	Query("CREATE TABLE native AS SELECT range AS a FROM range(10)");
	Query("SET force_mbedtls_unsafe=true");
	Query("PRAGMA add_parquet_key('key', '0123456789012345')");
	Write("SELECT 1 AS a", "secret.parquet", ", ENCRYPTION_CONFIG {footer_key: 'key'}");
	EXPECT_NE(ReasonAgainst("FROM native"), "");
	EXPECT_NE(ReasonAgainst("FROM range(10)"), "");
	EXPECT_NE(
		ReasonAgainst("FROM read_parquet('secret.parquet', encryption_config={footer_key: 'key'})").find("encrypted"),
		std::string::npos);
}

TEST_F(ParquetLeafTest, VariantsAsTheExtensionForDeltaTablesHasThemRead) {
	Write("SELECT range AS k, {'metadata': '\\x01\\x00\\x00'::BLOB, 'value': "
		  "CASE WHEN range % 2 = 0 THEN '\\x0C\\x07'::BLOB ELSE '\\x0C\\x2A'::BLOB END} AS v FROM range(10000)",
		  "variants.parquet", ", ROW_GROUP_SIZE 2048");
	auto sql = "SELECT k, typeof(v), v::VARCHAR FROM 'variants.parquet'";
	ExpectSameRows(sql);
	auto structs = Query(sql);
	// What loading that extension does.
	DBConfig::GetConfig(*database_.instance).options.variant_legacy_encoding = true;
	EXPECT_NE(Query(sql), structs);
	ExpectSameRows(sql);
}

TEST_F(ParquetLeafTest, TheMetadataCacheChangesNothing) {
	WriteFacts();
	Query("SET parquet_metadata_cache=true");
	worker_.Query("SET parquet_metadata_cache=true");
	for (int round = 0; round < 2; round++) {
		ExpectSameRows("SELECT k, filename FROM 'facts/*.parquet' WHERE v < 500");
		ExpectSameRows("SELECT k FROM read_parquet('facts/*.parquet', union_by_name=true)");
	}
}

TEST_F(ParquetLeafTest, GeometriesAreReadByTheSettingOfEachQuery) {
	Write("SELECT ('POINT (' || range || ' 1)')::GEOMETRY AS g FROM range(100)", "points.parquet");
	// Old enough for tasks to keep its footer.
	fs::last_write_time("points.parquet", fs::last_write_time("points.parquet") - std::chrono::hours(1));
	for (auto conversion : {"true", "false", "true"}) {
		auto set = std::string("SET enable_geoparquet_conversion = ") + conversion;
		Query(set);
		worker_.Query(set);
		ExpectSameRows("SELECT typeof(g), g FROM 'points.parquet'");
	}
}

TEST_F(ParquetLeafTest, FilesBelowTheHomeDirectory) {
	WriteFacts();
	Query("SET home_directory='" + folder_.string() + "'");
	ExpectSameRows("SELECT k, filename FROM '~/facts/*.parquet' WHERE k % 100 = 7");
	ExpectSameRows("SELECT k, filename FROM '~/facts/1.parquet' WHERE k % 100 = 7");
}

TEST_F(ParquetLeafTest, FilesFoundThroughTheSearchPath) {
	WriteFacts();
	Query("SET file_search_path='facts'");
	ExpectSameRows("SELECT k, filename FROM '2.parquet' WHERE k % 100 = 7");
}

TEST_F(ParquetLeafTest, ErrorsAreThoseOfTheWholeScan) {
	Write("SELECT 1 AS a", "x/1.parquet");
	Write("SELECT 'text' AS a", "x/2.parquet");
	auto sql = "SELECT a FROM 'x/*.parquet'";
	auto expected = connection_.Query(sql);
	ASSERT_TRUE(expected->HasError());
	try {
		RunVariants(Variants(sql, 2));
		ADD_FAILURE() << "no error";
	} catch (std::exception &ex) {
		EXPECT_EQ(ErrorData(ex).Message(), expected->GetError());
	}
}

TEST_F(ParquetLeafTest, CopyIntoATable) {
	WriteFacts();
	Query("CREATE TABLE target (k VARCHAR, g UTINYINT, v DOUBLE, s VARCHAR, n BIGINT, d DATE, "
		  "st STRUCT(a BIGINT, b BIGINT[]))");
	std::vector<std::string> variants;
	Analyze("COPY target FROM 'facts/*.parquet'", [&](ClientContext &context, LogicalGet &get, ParquetLeaf &leaf) {
		for (auto &units : DealUnits(leaf.units, 3)) {
			variants.push_back(SerializePlan(context, *leaf.MakeVariant(context, get, units)));
		}
	});
	Query("COPY target FROM 'facts/*.parquet'");
	EXPECT_EQ(RunVariants(variants), Query("FROM target"));
}

TEST_F(ParquetLeafTest, UnitsAreDescribedForExplain) {
	WriteFacts();
	Analyze("SELECT 1 FROM 'facts/*.parquet' WHERE k < 3000 OR k > 5000", [&](ClientContext &, LogicalGet &,
																			  ParquetLeaf &leaf) {
		auto units = leaf.units;
		units.erase(units.begin() + 2);
		EXPECT_EQ(leaf.Describe(units, 2),
				  "READ_PARQUET files=[facts/1.parquet row_groups=0..1,3..4, facts/2.parquet row_groups=0, ...]");
		EXPECT_EQ(leaf.Describe({}, 2), "READ_PARQUET files=[]");
	});
}

TEST_F(ParquetLeafTest, TheSliceCannotBeCalledByHand) {
	auto result = connection_.Query("FROM skein_parquet_slice()");
	ASSERT_TRUE(result->HasError());
	EXPECT_EQ(result->GetErrorType(), ExceptionType::BINDER);
}

} // namespace
} // namespace skein
