#include "planner/leaf/text_leaf.hpp"

#include "planner/leaf/leaf_fixture.hpp"

#include <fstream>
#include <random>
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

TEST_F(TextLeafTest, NewlineDelimitedFilesAreReadInRanges) {
	std::mt19937 random(3);
	std::string text;
	for (int i = 0; i < 150; i++) {
		text += "{\"k\": " + std::to_string(i) + ", \"t\": \"" + std::string(random() % 90, 'x') + "\\n\"}" +
				(i % 7 == 0 ? "\r\n" : "\n") + (i % 11 == 0 ? "\n \n" : "");
	}
	WriteText("big/p=1/1.json", text);
	WriteText("big/p=1/2.json", "{\"k\": -1}\n");
	WriteText("big/p=2/3.json", text.substr(0, text.size() - 1));
	for (auto bytes : {"40B", "333B", "5000B"}) {
		Divide(bytes);
		ExpectSameRows("SELECT * FROM 'big/p=1/1.json'");
		ExpectSameRows("SELECT filename, file_index, k, p FROM read_json('big/*/*.json', hive_partitioning = true) "
					   "WHERE k % 3 <> 1");
		ExpectSameRows("SELECT t FROM read_ndjson('big/*/*.json') WHERE p = 2");
		ExpectSameRows("SELECT * FROM read_ndjson_objects('big/*/*.json')");
		ExpectSameRows("SELECT * FROM read_json_objects('big/*/*.json', maximum_object_size = 200)");
		ExpectSameRows("SELECT k FROM read_json('big/*/*.json', columns = {'k': 'INTEGER'})");
	}
}

TEST_F(TextLeafTest, NewlineDelimitedFilesAreCutAtEveryByte) {
	std::string text = "\n{\"a\": 1}\n\n[2, \"x\"]\r\n  3\nnull\n\"four\"\n \n{}";
	for (std::string end : {"", "\n", "\n\n"}) {
		WriteText("cut.json", text + end);
		for (size_t bytes = 1; bytes < text.size() / 2; bytes++) {
			Divide(std::to_string(bytes) + "B");
			ExpectSameRows("SELECT * FROM read_ndjson_objects('cut.json')");
			ExpectSameRows("SELECT * FROM read_json('cut.json', format = 'newline_delimited', records = false, "
						   "columns = {'v': 'JSON'})");
		}
	}
	// A mark of the byte order counts at the begin of the file only.
	WriteText("mark.json", "\xEF\xBB\xBF{\"a\": 1}\n{\"a\": 2}\n\xEF\xBB\xBF{\"a\": 3}\n{\"a\": 4}\n");
	Divide("9B");
	ExpectSameRows("SELECT * FROM read_ndjson_objects('mark.json', ignore_errors = true)");
}

TEST_F(TextLeafTest, CsvFilesWithoutQuotesAreReadInRanges) {
	std::mt19937 random(5);
	std::string rows;
	for (int i = 0; i < 150; i++) {
		rows += std::to_string(i) + "," + std::string(random() % 70, 'x') + ",2024-02-0" + std::to_string(i % 9 + 1) +
				(i % 11 == 0 ? "\n\n" : "\n");
	}
	WriteText("c/p=1/1.csv", "k,t,d\n" + rows);
	WriteText("c/p=1/2.csv", "k,t,d\n7,y,2024-03-03\n");
	WriteText("c/p=2/3.csv", "t,x,k\n" + StringUtil::Replace(rows, "2024-02-0", "n"));
	WriteText("crlf.csv", StringUtil::Replace("k,t,d\n" + rows, "\n", "\r\n"));
	WriteText("bare.csv", rows.substr(0, rows.size() - 1));
	for (auto bytes : {"20", "333B", "5kB"}) {
		Divide(bytes);
		ExpectSameRows("SELECT * FROM 'c/p=1/1.csv'");
		ExpectSameRows("SELECT d, filename, file_index FROM read_csv('c/p=1/1.csv') WHERE k % 3 <> 1");
		ExpectSameRows("SELECT filename, k, t, p FROM read_csv('c/*/*.csv', union_by_name = true)");
		ExpectSameRows("SELECT * FROM 'crlf.csv'");
		ExpectSameRows("SELECT * FROM 'bare.csv'");
		ExpectSameRows("SELECT * FROM read_csv('c/p=1/*.csv', auto_detect = false, header = true, quote = '', "
					   "columns = {'k': 'INTEGER', 't': 'VARCHAR', 'd': 'DATE'})");
		ExpectSameRows("SELECT * FROM read_csv('c/p=1/1.csv', all_varchar = true, delim = ',', header = false)");
		ExpectSameRows("SELECT * FROM read_csv('c/p=1/1.csv', max_line_size = 100, names = ['a', 'b', 'c'])");
		ExpectSameRows("SELECT 1 FROM 'crlf.csv'");
	}
}

TEST_F(TextLeafTest, CsvFilesAreCutAtEveryByte) {
	const std::string mark = "\xEF\xBB\xBF";
	for (auto &text :
		 {std::string("a|b\n1|x\n\n\n22|\n|\n 3 | y\n\n"), mark + "a|b\n1|x\n" + mark + "2|y\n3|z\n4|w",
		  std::string("a|b\r\n1|x\r\n\r\n22|\r\n|\r\n 3 | y\r\n"), std::string("1|x\n2|\"y\n3|z\"\n4|'q\n")}) {
		WriteText("cut.csv", text);
		for (size_t bytes = 1; bytes < text.size() / 2; bytes++) {
			Divide(std::to_string(bytes) + "B");
			for (std::string header : {"true", "false"}) {
				ExpectSameRows("SELECT * FROM read_csv('cut.csv', delim = '|', quote = '', header = " + header +
							   ", all_varchar = true)");
				ExpectSameRows("SELECT * FROM read_csv('cut.csv', auto_detect = false, delim = '|', quote = '', "
							   "header = " +
							   header + ", columns = {'a': 'VARCHAR', 'b': 'VARCHAR'})");
			}
		}
	}
}

TEST_F(TextLeafTest, CsvFilesOfWhichALineMayBeNoRowStayWhole) {
	Divide("16B");
	std::string rows = "k,t\n";
	for (int i = 0; i < 40; i++) {
		rows += std::to_string(i) + ",x\n";
	}
	WriteText("w/1.csv", rows);
	WriteText("w/2.csv", rows);
	WriteText("one.csv", StringUtil::Replace(rows, ",", ""));
	WriteText("quoted.csv", StringUtil::Replace(rows, "x", "\"x\""));
	WriteText("r.csv", StringUtil::Replace(rows, "\n", "\r"));
	WriteText("empty.csv", "\n\n" + rows);
	auto ranges = [&](const std::string &options) {
		idx_t result = 0;
		Analyze("SELECT * FROM read_csv(" + options + ")",
				[&](const TextLeaf &leaf) { result = leaf.files[0].RangeCount(); });
		return result;
	};
	auto divided = rows.size() / 16;
	EXPECT_EQ(ranges("'w/1.csv'"), divided);
	EXPECT_EQ(ranges("'w/*.csv', union_by_name = true"), divided);
	EXPECT_EQ(ranges("'w/1.csv', quote = ''"), divided);
	Query("COPY (SELECT i AS k, 'x' AS t FROM range(5000) r(i)) TO 'packed.csv.gz'");
	const std::pair<std::string, std::string> wholes[] = {
		{"'w/*.csv'", "its dialect is sniffed when it is read"},
		{"'packed.csv.gz', quote = ''", "it is compressed"},
		{"'w/1.csv', quote = '\"'", "quotes may hold newlines"},
		{"'quoted.csv'", "quotes may hold newlines"},
		{"'w/1.csv', ignore_errors = true", "ignore_errors is on"},
		{"'w/1.csv', null_padding = true", "null_padding is on"},
		{"'w/1.csv', strict_mode = false", "strict_mode is off"},
		{"'w/1.csv', skip = 1", "it begins with rows that are skipped"},
		{"'one.csv'", "an empty line is a row of its only column"},
		{"'r.csv'", "its lines end without \\n"},
		{"'w/1.csv', comment = '#'", "it may have comments"},
		{"'w/1.csv', encoding = 'latin-1'", "it is not UTF-8"},
		{"'empty.csv', auto_detect = false, quote = '', columns = {'k': 'VARCHAR', 't': 'VARCHAR'}",
		 "its first line is empty or ends in another way than DuckDB expects"}};
	for (auto &[whole, reason] : wholes) {
		EXPECT_EQ(ranges(whole), 1u) << whole;
		ExpectSameRows("SELECT * FROM read_csv(" + whole + ")");
		Analyze("SELECT * FROM read_csv(" + whole + ")", [&](const TextLeaf &leaf) {
			EXPECT_STREQ(leaf.files[0].whole_because, reason.c_str()) << whole;
			auto described = "READ_CSV files=[" + ShortPath(leaf.files[0].path) + " whole (" + reason + ")]";
			EXPECT_EQ(leaf.Describe({leaf.units[0]}, 1), described);
		});
	}
}

TEST_F(TextLeafTest, FilesWhoseRecordsAreNoLinesStayWhole) {
	Divide("16B");
	std::string lines, list = "[", spread;
	for (int i = 0; i < 20; i++) {
		lines += "{\"a\": " + std::to_string(i) + "}\n";
		list += (i == 0 ? "{\"a\": " : ",\n{\"a\": ") + std::to_string(i) + "}";
		spread += "{\"a\":\n " + std::to_string(i) + "}\n";
	}
	WriteText("l/1.json", lines);
	WriteText("l/2.json", list + "]\n");
	WriteText("l/3.json", spread);
	WriteText("l/4.json", lines);
	auto ranges = [&](const std::string &sql) {
		std::vector<idx_t> result;
		Analyze(sql, [&](const TextLeaf &leaf) {
			for (auto &file : leaf.files) {
				result.push_back(file.RangeCount());
			}
		});
		return result;
	};
	auto divided = lines.size() / 16;
	using Counts = std::vector<idx_t>;
	EXPECT_EQ(ranges("SELECT * FROM 'l/*.json'"), (Counts{divided, 1, 1, divided}));
	EXPECT_EQ(ranges("SELECT * FROM read_json('l/*.json', maximum_sample_files = 1)"),
			  (Counts{divided, 1, 1, divided}));
	ExpectSameRows("SELECT * FROM 'l/*.json'");
	EXPECT_EQ(ranges("SELECT * FROM read_json('l/1.json', ignore_errors = true)"), Counts{1});
	EXPECT_EQ(ranges("SELECT * FROM read_ndjson_objects('l/1.json', ignore_errors = true)"), Counts{divided});
	Query("COPY (FROM range(100)) TO 'l/5.json.gz' (FORMAT json)");
	EXPECT_EQ(ranges("SELECT * FROM read_json('l/5.json.gz')"), Counts{1});
	auto why = [&](const std::string &sql) {
		std::string result;
		Analyze(sql, [&](const TextLeaf &leaf) { result = leaf.WhyWhole(); });
		return result;
	};
	EXPECT_EQ(why("SELECT * FROM 'l/[124].json'"), "2.json stays whole (its first line is no document)");
	EXPECT_EQ(why("SELECT * FROM read_json('l/2.json', format = 'array')"),
			  "2.json stays whole (it is not newline-delimited)");
	EXPECT_EQ(why("SELECT * FROM read_json('l/1.json', ignore_errors = true)"),
			  "1.json stays whole (ignore_errors is on)");
	EXPECT_EQ(why("SELECT * FROM read_json('l/5.json.gz')"), "5.json.gz stays whole (it is compressed)");
	EXPECT_EQ(why("SELECT * FROM 'l/1.json'"), "");
	Divide("1MB");
	EXPECT_EQ(ranges("SELECT * FROM 'l/1.json'"), Counts{1});
	EXPECT_EQ(why("SELECT * FROM read_json('l/2.json')"), "");
}

TEST_F(TextLeafTest, ErrorsOfRangesHaveDuckDBsClass) {
	Divide("20B");
	std::string lines;
	for (int i = 0; i < 50; i++) {
		lines += "{\"a\": " + std::to_string(i) + "}\n";
	}
	WriteText("bad.json", lines + "{\"a\": }\n" + lines);
	WriteText("open.json", lines + "{\"a\":\n1}\n" + lines);
	WriteText("type.json", lines + "{\"a\": \"x\"}\n" + lines);
	for (std::string file : {"bad.json", "open.json", "type.json"}) {
		auto sql = "SELECT a FROM read_ndjson('" + file + "', columns = {'a': 'INTEGER'})";
		auto plain = connection_.Query(sql);
		ASSERT_TRUE(plain->HasError());
		try {
			RunVariants(Variants(sql, 3));
			ADD_FAILURE() << "no error: " << file;
		} catch (std::exception &ex) {
			EXPECT_EQ(ErrorData(ex).Type(), plain->GetErrorType()) << ErrorData(ex).Message();
		}
	}
}

TEST_F(TextLeafTest, ChangedFilesAreRefusedInRanges) {
	Divide("16B");
	WriteJsonFiles();
	auto variants = Variants("SELECT k FROM 'json/4.json'", 3);
	fs::last_write_time("json/4.json", fs::last_write_time("json/4.json") + std::chrono::hours(1));
	EXPECT_NE(IOErrorOf(variants).find("4.json\" changed between planning and reading"), std::string::npos);
}

TEST_F(TextLeafTest, RangesAreDescribedByTheirBytes) {
	WriteText("r.json", "{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n");
	WriteText("s.json", "{\"a\": 1}\n");
	Divide("8B");
	Analyze("SELECT a FROM read_json(['r.json', 's.json'])", [](const TextLeaf &leaf) {
		ASSERT_EQ(leaf.units.size(), 4u);
		EXPECT_EQ(leaf.Describe({leaf.units[0]}, 9), "READ_JSON files=[r.json bytes=0..7]");
		EXPECT_EQ(leaf.Describe({leaf.units[1], leaf.units[2], leaf.units[3]}, 9),
				  "READ_JSON files=[r.json bytes=8..26, s.json]");
		EXPECT_EQ(leaf.Describe(leaf.units, 1), "READ_JSON files=[r.json, ...]");
	});
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

TEST_F(TextLeafTest, FilesThatAreOneRowEach) {
	WriteCsvFiles();
	WriteText("csv/empty.csv", "");
	for (std::string function : {"read_text", "read_blob"}) {
		auto from = " FROM " + function + "('csv/*.csv')";
		ExpectSameRows("SELECT *" + from);
		ExpectSameRows("SELECT size, filename" + from + " WHERE size % 2 = 0");
		ExpectSameRows("SELECT last_modified, content, file_index" + from);
		ExpectSameRows("SELECT filename" + from);
		ExpectSameRows("SELECT 1" + from);
	}
	ExpectSameRows("SELECT content FROM read_text(['" + fs::absolute("csv/1.csv").string() +
				   "', 'csv/2.csv', 'csv/1.csv'])");
	auto texts = Variants("SELECT size FROM read_text('csv/*.csv')", 2);
	WriteText("csv/4.csv", "other");
	EXPECT_NE(IOErrorOf(texts).find("4.csv\" changed between planning and reading: it had"), std::string::npos);
	WriteText("csv/bad.csv", "\xFF");
	try {
		RunVariants(Variants("SELECT content FROM read_text('csv/bad.csv')", 1));
		FAIL();
	} catch (std::exception &ex) {
		ErrorData error(ex);
		EXPECT_EQ(error.Type(), ExceptionType::INVALID_INPUT);
		EXPECT_NE(error.RawMessage().find("of file 'csv/bad.csv' as valid UTF-8"), std::string::npos);
	}
}

TEST_F(TextLeafTest, WhatTheSessionMustRead) {
	WriteCsvFiles();
	EXPECT_EQ(ReasonAgainst("SELECT * FROM read_csv('csv/*.csv', store_rejects = true)"),
			  "read_csv writes what it rejects into tables of the session");
	EXPECT_EQ(ReasonAgainst("SELECT * FROM glob('csv/*.csv')"), "glob is not a scan that can be divided");
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
