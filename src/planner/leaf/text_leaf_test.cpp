#include "planner/leaf/text_leaf.hpp"

#include "planner/leaf/leaf_fixture.hpp"

#include <fstream>
#include <sys/stat.h>

namespace skein {
namespace {

class TextLeafTest : public LeafTest {
protected:
	static void WriteText(const std::string &path, const std::string &text) {
		if (fs::path(path).has_parent_path()) {
			fs::create_directories(fs::path(path).parent_path());
		}
		std::ofstream(path, std::ios::binary) << text;
	}

	//! Four files of 1, 2, 4 and 8 rows, and elsewhere one of a header only.
	static void WriteCsvFiles() {
		WriteText("none.csv", "k,d,t\n");
		int next = 0;
		for (int file : {1, 2, 4, 8}) {
			std::string text = "k,d,t\n";
			for (int i = 0; i < file; i++, next++) {
				text += std::to_string(next) + ",2024-02-0" + std::to_string(next % 9 + 1) + ",\"a\n" +
						std::to_string(next) + "\"\n";
			}
			WriteText("csv/" + std::to_string(file) + ".csv", text);
		}
	}
	static void WriteJsonFiles() {
		for (int file = 0; file < 5; file++) {
			std::string text;
			for (int i = 0; i < file * 3; i++) {
				text += "{\"k\": " + std::to_string(i) + ", \"d\": \"0" + std::to_string(i % 9 + 1) +
						"-02-2024\", \"Key\": 1, \"key\": {\"n\": [" + std::to_string(file) + "]}}\n";
			}
			WriteText("json/" + std::to_string(file) + ".json", text);
		}
	}

	//! Calls `use` with what planning knows about the first scan of `sql`.
	void Analyze(const std::string &sql, const std::function<void(const TextLeaf &)> &use) {
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			std::string reason;
			auto leaf = AnalyzeTextScan(context, (*FirstScan(plan))->Cast<LogicalGet>(), reason);
			ASSERT_TRUE(leaf) << sql << ": " << reason;
			use(*leaf);
		});
	}
};

TEST_F(TextLeafTest, CsvRowsAreTheSameInTheSameOrder) {
	WriteCsvFiles();
	ExpectSameRows("SELECT * FROM 'csv/*.csv'");
	ExpectSameRows("SELECT t, k FROM 'csv/*.csv' WHERE d > DATE '2024-02-03'");
	ExpectSameRows("SELECT filename, file_index, k FROM read_csv('csv/*.csv')");
	ExpectSameRows("SELECT * FROM read_csv(['csv/4.csv', 'csv/8.csv', 'csv/2.csv'], filename = true, "
				   "union_by_name = true)");
	ExpectSameRows("SELECT t FROM read_csv('csv/8.csv', columns = {'k': 'TINYINT', 'd': 'DATE', 't': 'VARCHAR'})");
	ExpectSameRows("SELECT * FROM read_csv('none.csv')");
	ExpectSameRows("SELECT * FROM read_csv(['csv/2.csv', 'none.csv', 'csv/8.csv'], header = true, "
				   "columns = {'k': 'TINYINT', 'd': 'DATE', 't': 'VARCHAR'})");
}

TEST_F(TextLeafTest, JsonRowsAreTheSameInTheSameOrder) {
	WriteJsonFiles();
	ExpectSameRows("SELECT * FROM 'json/*.json'");
	ExpectSameRows("SELECT d, filename, file_index FROM read_json('json/*.json')");
	ExpectSameRows("SELECT key_1.n[1] AS n, k FROM read_ndjson('json/*.json') WHERE d > DATE '2024-02-03'");
	ExpectSameRows("SELECT * FROM read_json_objects('json/*.json')");
	ExpectSameRows("SELECT * FROM read_json('json/*.json', columns = {'key': 'JSON'})");
	ExpectSameRows("SELECT * FROM read_json('json/0.json')");
}

TEST_F(TextLeafTest, ColumnsAreThoseOfTheWholeScan) {
	// By itself, the second file would have a number and no header.
	WriteText("mixed/1.csv", "a,b\nx,1\ny,2\n");
	WriteText("mixed/2.csv", "1,1\n2,2\n");
	ExpectSameRows("SELECT a || '!', b FROM read_csv('mixed/*.csv', header = true, names = ['a', 'b'])");
	// By themselves, these would be a date, and an object of other keys.
	WriteText("mixed/1.json", "{\"a\": \"2024-01-01\", \"b\": 1}\n{\"a\": \"no date\"}\n");
	WriteText("mixed/2.json", "{\"a\": \"2024-01-02\"}\n");
	ExpectSameRows("SELECT a || '!', b FROM read_json('mixed/*.json')");
}

TEST_F(TextLeafTest, EveryOptionTravels) {
	WriteText("o/1.csv", "# note\n1.000|'x'|03/02/2024|nil\n2|'y'|04/02/2024|7\n");
	WriteText("o/2.csv", "3.000.000|'it''s'|05/02/2024|8\nbad|'z'|06/02/2024|9\n4|'ü'|07/02/2024|\n");
	ExpectSameRows(
		"SELECT * FROM read_csv('o/*.csv', thousands = '.', decimal_separator = ',', delim = '|', "
		"quote = '''', comment = '#', dateformat = '%d/%m/%Y', nullstr = 'nil', ignore_errors = true, "
		"header = false, types = {'column0': 'DOUBLE', 'column3': 'VARCHAR'}, force_not_null = ['column3'])");
	ExpectSameRows("SELECT typeof(COLUMNS(*)) FROM read_csv('o/*.csv', auto_type_candidates = ['VARCHAR', 'DATE'], "
				   "delim = '|', quote = '''', header = false)");
	WriteText("o/1.json", "{\"a\": \"01.02.2024\", \"t\": \"01.02.2024 10/11\"}\n");
	WriteText("o/2.json", "{\"a\": \"13.02.2024\", \"t\": \"13.02.2024 10/11\"}\nbroken\n");
	ExpectSameRows("SELECT * FROM read_json('o/*.json', dateformat = '%d.%m.%Y', timestampformat = '%d.%m.%Y %H/%M', "
				   "ignore_errors = true, format = 'newline_delimited')");
}

TEST_F(TextLeafTest, ErrorsSpeakOfTheScansOptions) {
	// DuckDB's serialisation forgets who set an option that is empty.
	WriteText("e.csv", "1\nx\n");
	for (std::string options :
		 {"comment = '', delim = ','", "delim = '', quote = ''", "header = false, escape = '\"'"}) {
		auto sql = "SELECT * FROM read_csv('e.csv', auto_detect = false, columns = {'a': 'INTEGER'}, " + options + ")";
		auto expected = connection_.Query(sql)->GetError();
		ASSERT_NE(expected.find("(Set By User)"), std::string::npos) << expected;
		std::string found;
		try {
			RunVariants(Variants(sql, 1));
		} catch (std::exception &ex) {
			found = ErrorData(ex).Message();
		}
		EXPECT_EQ(found, expected);
	}
}

TEST_F(TextLeafTest, AQuotedNewlineAndPaddingAreReadAsInTheWholeScan) {
	// DuckDB reads these only with one thread per file, as it does for many files.
	for (int file = 0; file < 8; file++) {
		WriteText("p/" + std::to_string(file) + ".csv", "a,b,c\n1,\"x\ny\",2\n3\n");
	}
	ExpectSameRows("SELECT * FROM read_csv('p/*.csv', null_padding = true)");
}

TEST_F(TextLeafTest, FilesWeighTheirBytes) {
	WriteCsvFiles();
	Analyze("SELECT k FROM 'csv/*.csv'", [](const TextLeaf &leaf) {
		ASSERT_EQ(leaf.units.size(), 4u);
		for (size_t file = 0; file < 4; file++) {
			EXPECT_EQ(leaf.units[file].file, file);
			EXPECT_EQ(leaf.units[file].bytes, fs::file_size(leaf.files[file].OpenPath()));
		}
		EXPECT_EQ(leaf.Describe(leaf.units, 2), "READ_CSV files=[csv/1.csv, csv/2.csv, ...]");
	});
}

TEST_F(TextLeafTest, ChangedFilesAreRefused) {
	WriteCsvFiles();
	WriteJsonFiles();
	auto csv = Variants("SELECT k FROM 'csv/*.csv'", 2);
	auto json = Variants("SELECT k FROM 'json/*.json'", 2);
	WriteText("csv/4.csv", "k,d,t\n1,2024-02-01,x\n");
	EXPECT_NE(IOErrorOf(csv).find("4.csv\" changed between planning and reading: it had"), std::string::npos);
	fs::last_write_time("json/2.json", fs::last_write_time("json/2.json") + std::chrono::hours(1));
	EXPECT_NE(IOErrorOf(json).find("2.json\" changed between planning and reading: it was last modified"),
			  std::string::npos);
	fs::remove("json/1.json");
	EXPECT_NE(IOErrorOf(json).find("was there at planning"), std::string::npos);
}

TEST_F(TextLeafTest, WhatTheSessionMustRead) {
	WriteCsvFiles();
	EXPECT_EQ(ReasonAgainst("SELECT * FROM read_csv('csv/*.csv', store_rejects = true)"),
			  "read_csv writes what it rejects into tables of the session");
	EXPECT_EQ(ReasonAgainst("SELECT * FROM read_text('csv/*.csv')"),
			  "read_text is not a scan of Parquet, CSV or JSON files");
}

TEST_F(TextLeafTest, PipesAreNotOpenedWhilePlanning) {
	ASSERT_EQ(mkfifo("pipe", 0600), 0);
	EXPECT_EQ(ReasonAgainst("SELECT * FROM read_csv('pipe', auto_detect = false, columns = {'a': 'INTEGER'})"),
			  "file \"pipe\" can be read only once, by the session");
}

TEST_F(TextLeafTest, TheSlicesCannotBeCalledByHand) {
	for (auto name : {"skein_csv_slice", "skein_json_slice"}) {
		auto result = connection_.Query(std::string("FROM ") + name + "()");
		ASSERT_TRUE(result->HasError());
		EXPECT_EQ(result->GetErrorType(), ExceptionType::BINDER);
	}
}

} // namespace
} // namespace skein
