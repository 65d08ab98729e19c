#include "fuzz/catalog.hpp"

#include "duckdb.hpp"

#include <filesystem>

#include <unistd.h>

namespace skein::fuzz {
namespace {

namespace fs = std::filesystem;

//! Below the folder that is named: another one for every change of the tables.
constexpr const char *TABLES_VERSION = "2";

//! How the rows of an awkward table are.
struct Shape {
	const char *name;
	//! The rows of each row group of each file.
	std::vector<std::vector<int>> files;
	//! Of a hundred values, those that are NULL.
	int nulls;
	//! How many different keys there are.
	int keys;
	//! Of a hundred rows, those with the key 7.
	int skew;
	//! How many different rows there are, but for the id.
	int rows;
};

const std::vector<Shape> &Shapes() {
	static const std::vector<Shape> SHAPES{
		{"even", {{15, 15}, {15, 15}, {15, 15}, {15, 15}}, 10, 60, 0, 1000000},
		{"sparse", {{20}, {20, 10}, {30}}, 60, 12, 0, 1000000},
		{"skewed", {{60}, {40, 20}, {40}}, 5, 40, 85, 1000000},
		{"hollow", {{0}, {25}, {0}, {15}, {0}}, 10, 30, 0, 1000000},
		{"norows", {{0}, {0}}, 0, 10, 0, 1000000},
		{"single", {{0}, {0}, {1}}, 0, 10, 100, 1000000},
		{"lopsided", {{1}, {2}, {50, 3, 70, 30}, {7}}, 15, 25, 0, 1000000},
		{"repeated", {{30}, {30}, {30}}, 15, 8, 0, 9},
		{"longer", {{1200, 300}, {1500}, {700, 800}}, 8, 900, 0, 1000000},
	};
	return SHAPES;
}

const Shape ODD_SHAPE{"odd", {{25, 15}, {0}, {30}, {10, 30}}, 12, 20, 0, 1000000};
const Shape HIVE_SHAPE{"hive", {{100}}, 10, 40, 0, 1000000};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

const std::string TEXTS =
	"['a', 'A', 'ä', 'Ä', 'b', 'B', 'ab', 'aB', '', ' a', 'é', 'ß', 'ss', 'z', 'Z', '_', 'a_b', '%']";

std::string KeyValue(const Shape &shape) {
	return "CASE WHEN pick(j, 1, 100) < " + std::to_string(shape.skew) + " THEN 7 ELSE pick(j, 2, " +
		   std::to_string(shape.keys) + ") - 3 END::INTEGER";
}

//! The values of row `i`, each of which looks random.
NamedValues AwkwardValues(const Shape &shape) {
	std::string doubles = "['0'::DOUBLE, '-0.0', 'NaN', 'inf', '-inf', 0.25, -1.5, 7, 12.75, 1000.5]";
	std::string hugeints = "[0, 1, -1, 7, 9223372036854775807, -9223372036854775808, "
						   "170141183460469231731687303715884105727, -170141183460469231731687303715884105727]";
	std::string intervals = "[INTERVAL 1 DAY, INTERVAL 30 DAY, INTERVAL 1 MONTH, INTERVAL 5 SECOND, INTERVAL 3 YEAR]";
	return {
		{"k", KeyValue(shape)},
		{"g", "pick(j, 3, 5)::INTEGER"},
		{"b", "(pick(j, 4, 2000) - 1000)::BIGINT"},
		// Parquet has no HUGEINT.
		{"h_text", "list_extract(" + hugeints + "::VARCHAR[], pick(j, 5, 8) + 1)"},
		{"n", "((pick(j, 6, 400) - 200) / 4)::DECIMAL(9, 2)"},
		{"m", "(pick(j, 7, 100) * 1000000000000 + 0.0001)::DECIMAL(30, 4)"},
		{"f", "CASE WHEN pick(j, 8, 100) < 30 THEN list_extract(" + doubles +
				  ", pick(j, 9, 10) + 1) ELSE (pick(j, 10, 80) - 40) / 4 END::DOUBLE"},
		{"s", "list_extract(" + TEXTS + ", pick(j, 11, 18) + 1)"},
		{"t", "'text ' || pick(j, 12, 300) || repeat('x', pick(j, 13, 20)::INTEGER)"},
		{"c", "pick(j, 14, 2) = 1"},
		{"d", "DATE '1995-01-01' + pick(j, 15, 700)::INTEGER"},
		{"ts", "CASE WHEN pick(j, 16, 50) = 0 THEN TIMESTAMP 'infinity' ELSE TIMESTAMP '1995-03-01 01:02:03' + "
			   "INTERVAL (pick(j, 17, 50000)) MINUTE END"},
		{"tz", "TIMESTAMPTZ '1996-03-01 01:02:03+00' + INTERVAL (pick(j, 18, 1000)) HOUR"},
		{"tm", "TIME '00:00:00' + INTERVAL (pick(j, 19, 1439)) MINUTE"},
		{"iv", "list_extract(" + intervals + ", pick(j, 20, 5) + 1)"},
		{"bl",
		 "CASE WHEN pick(j, 21, 4) = 0 THEN ''::BLOB ELSE encode('bl' || pick(j, 22, 9)) || '\\x00\\xFF'::BLOB END"},
		{"u", "CAST('00000000-0000-0000-0000-0000000000' || lpad(pick(j, 23, 30)::VARCHAR, 2, '0') AS UUID)"},
		{"l", "list_transform(range(0, pick(j, 24, 4)), lambda x: CASE WHEN pick(j + x, 25, 5) = 0 THEN NULL ELSE "
			  "pick(j + x, 26, 9) END::INTEGER)"},
		{"tl",
		 "list_transform(range(0, pick(j, 27, 3)), lambda x: list_extract(" + TEXTS + ", pick(j + x, 28, 18) + 1))"},
		{"st", "struct_pack(a := CASE WHEN pick(j, 29, 6) = 0 THEN NULL ELSE pick(j, 30, 9) END::INTEGER, b := "
			   "list_extract(" +
				   TEXTS + ", pick(j, 31, 18) + 1))"},
		{"mp", "map_from_entries(list_transform(range(0, pick(j, 32, 3)), lambda x: ('m' || x, pick(j + x, 33, "
			   "9)::INTEGER)))"},
	};
}

//! What the view of the odd table makes its columns of.
NamedValues OddValues(const Shape &shape) {
	return {
		{"k", KeyValue(shape)},
		{"g", "pick(j, 3, 5)::INTEGER"},
		{"s", "list_extract(" + TEXTS + ", pick(j, 11, 18) + 1)"},
		{"en_text", "list_extract(['sad', 'ok', 'happy', 'Ä', ''], pick(j, 34, 5) + 1)"},
		{"ar_list", "[pick(j, 35, 4), CASE WHEN pick(j, 36, 5) > 0 THEN pick(j, 37, 3) END]::INTEGER[]"},
		{"bi_text", "list_extract(['0', '1', '0101', '01010', '1111000011110000'], pick(j, 38, 5) + 1)"},
		{"tt", "list_extract(['01:02:03+00', '01:02:03+01', '00:02:03+00', '23:59:59-11', '12:00:00+05:30']::TIMETZ[], "
			   "pick(j, 39, 5) + 1)"},
		{"un_n", "CASE WHEN pick(j, 40, 2) = 0 THEN pick(j, 41, 6) END::INTEGER"},
		{"un_t", "list_extract(" + TEXTS + ", pick(j, 42, 18) + 1)"},
		{"js",
		 "list_extract(['{\"a\": 1}', '{\"a\":1}', '[1, null]', 'null', '\"ä\"', '7', '{}']::JSON[], pick(j, 43, 7) "
		 "+ 1)"},
	};
}

NamedValues HiveValues(const Shape &shape) {
	return {{"k", KeyValue(shape)},
			{"s", "list_extract(" + TEXTS + ", pick(j, 11, 18) + 1)"},
			{"n", "((pick(j, 6, 400) - 200) / 4)::DECIMAL(9, 2)"},
			{"d", "DATE '1995-01-01' + pick(j, 15, 700)::INTEGER"},
			{"l", "[pick(j, 24, 4), NULL]::INTEGER[]"},
			{"g", "pick(j, 3, 2)::INTEGER"},
			{"p", "list_extract(['a', 'ä/1', 'x=2'], pick(j, 44, 3) + 1)"}};
}

//! Rows with these values, each now and then NULL.
std::string RowSelect(const Shape &shape, const NamedValues &values, int first, int rows) {
	std::string sql = "SELECT i AS id";
	int salt = 100;
	for (auto &[name, value] : values) {
		sql += ", CASE WHEN pick(j, " + std::to_string(++salt) + ", 100) >= " + std::to_string(shape.nulls) + " THEN " +
			   value + " END AS " + name;
	}
	return sql + " FROM (SELECT i, i % " + std::to_string(shape.rows) + " AS j FROM range(" + std::to_string(first) +
		   ", " + std::to_string(first + rows) + ") r(i))";
}

void Run(duckdb::Connection &connection, const std::string &sql) {
	auto result = connection.Query(sql);
	if (result->HasError()) {
		result->ThrowError();
	}
}

std::string Quoted(const std::string &text) {
	return duckdb::Value(text).ToSQLString();
}

void MakeFiles(duckdb::Connection &connection, const std::string &folder, const Shape &shape,
			   const NamedValues &values) {
	fs::create_directories(fs::path(folder) / shape.name);
	int first = 0;
	for (size_t file = 0; file < shape.files.size(); file++) {
		std::string sql;
		for (auto rows : shape.files[file]) {
			sql += (sql.empty() ? "" : " UNION ALL ") + RowSelect(shape, values, first, rows);
			first += rows;
		}
		auto path = (fs::path(folder) / shape.name / (std::to_string(file) + ".parquet")).string();
		Run(connection, "COPY (" + sql + ") TO " + Quoted(path) + " (FORMAT parquet, ROW_GROUP_SIZE 1)");
	}
}

void MakeAwkwardFiles(duckdb::Connection &connection, const std::string &folder) {
	// One chunk of a UNION ALL becomes one row group.
	Run(connection, "SET threads = 1");
	Run(connection, "CREATE MACRO pick(i, salt, n) AS (hash(i, salt) % n::UBIGINT)::BIGINT");
	for (auto &shape : Shapes()) {
		MakeFiles(connection, folder, shape, AwkwardValues(shape));
	}
	MakeFiles(connection, folder, ODD_SHAPE, OddValues(ODD_SHAPE));
	Run(connection, "COPY (" + RowSelect(HIVE_SHAPE, HiveValues(HIVE_SHAPE), 0, HIVE_SHAPE.files[0][0]) + ") TO " +
						Quoted((fs::path(folder) / HIVE_SHAPE.name).string()) +
						" (FORMAT parquet, PARTITION_BY (g, p))");
}

void MakeTpchFiles(duckdb::Connection &connection, const std::string &folder) {
	Run(connection, "CALL dbgen(sf = 0.002)");
	Catalog catalog;
	for (auto &table : catalog.Tables()) {
		if (table.kind != TableKind::TPCH) {
			continue;
		}
		fs::create_directories(fs::path(folder) / table.name);
		auto files = table.rows < 50 ? 1 : 4;
		for (int file = 0; file < files; file++) {
			auto part = "(SELECT count(*) FROM " + table.name + ") * ";
			auto from = part + std::to_string(file) + " // " + std::to_string(files);
			auto to = part + std::to_string(file + 1) + " // " + std::to_string(files);
			auto path = (fs::path(folder) / table.name / (std::to_string(file) + ".parquet")).string();
			Run(connection, "COPY (SELECT * FROM " + table.name + " WHERE rowid >= " + from + " AND rowid < " + to +
								") TO " + Quoted(path) + " (FORMAT parquet, ROW_GROUP_SIZE 2048)");
		}
	}
}

} // namespace

void MakeTableFiles(const std::string &parent, const std::string &tpch_extension) {
	auto folder = (fs::path(parent) / TABLES_VERSION).string();
	if (fs::exists(folder)) {
		return;
	}
	auto partial = folder + ".partial-" + std::to_string(getpid());
	fs::create_directories(partial);
	duckdb::DBConfig config;
	config.SetOptionByName("allow_unsigned_extensions", true);
	duckdb::DuckDB database(nullptr, &config);
	duckdb::Connection connection(database);
	Run(connection, "LOAD " + Quoted(tpch_extension));
	MakeTpchFiles(connection, partial);
	MakeAwkwardFiles(connection, partial);
	std::error_code error;
	fs::rename(partial, folder, error);
	if (error) {
		fs::remove_all(partial);
		// Another process may have been faster.
		if (!fs::exists(folder)) {
			throw std::runtime_error("cannot make " + folder + ": " + error.message());
		}
	}
}

std::vector<std::string> TableStatements(const std::string &parent) {
	auto folder = fs::path(parent) / TABLES_VERSION;
	auto result = TypeStatements();
	auto add = [&](const std::string &table, const std::string &files, const std::string &columns,
				   const std::string &options) {
		auto pattern = fs::absolute(folder / table / files).string();
		result.push_back("CREATE VIEW " + table + " AS SELECT " + columns + " FROM read_parquet(" + Quoted(pattern) +
						 options + ")");
	};
	Catalog catalog;
	for (auto &table : catalog.Tables()) {
		switch (table.kind) {
		case TableKind::TPCH:
			add(table.name, "*.parquet", "*", "");
			break;
		case TableKind::AWKWARD:
			add(table.name, "*.parquet", "* EXCLUDE (h_text), h_text::HUGEINT AS h", "");
			break;
		case TableKind::ODD:
			add(table.name, "*.parquet",
				"id, k, g, s, en_text::mood AS en, ar_list::INTEGER[2] AS ar, bi_text::BIT AS bi, tt, CASE WHEN un_n "
				"IS "
				"NOT NULL THEN un_n::mixed ELSE un_t::mixed END AS un, js",
				"");
			break;
		case TableKind::HIVE:
			add(table.name, "*/*/*.parquet", "id, k, s, n, d, l, g::INTEGER AS g, p",
				", hive_partitioning = true, hive_types = {'g': INTEGER, 'p': VARCHAR}");
			break;
		case TableKind::NATIVE:
			result.push_back("CREATE TABLE " + table.name + " AS FROM " + table.name.substr(sizeof("native_") - 1));
			break;
		case TableKind::TEMPORARY:
			result.push_back("CREATE TEMP TABLE " + table.name + " AS FROM " + table.name.substr(sizeof("temp_") - 1));
			break;
		}
	}
	return result;
}

} // namespace skein::fuzz
