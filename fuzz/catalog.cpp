#include "fuzz/catalog.hpp"

namespace skein::fuzz {
namespace {

const std::vector<Column> &AwkwardColumns() {
	static const std::vector<Column> COLUMNS{
		{"id", SqlType::INTEGER},	  {"k", SqlType::INTEGER},		 {"g", SqlType::INTEGER},
		{"b", SqlType::INTEGER},	  {"h", SqlType::HUGEINT},		 {"n", SqlType::DECIMAL},
		{"m", SqlType::DECIMAL},	  {"f", SqlType::DOUBLE},		 {"s", SqlType::VARCHAR},
		{"t", SqlType::VARCHAR},	  {"c", SqlType::BOOLEAN},		 {"d", SqlType::DATE},
		{"ts", SqlType::TIMESTAMP},	  {"tz", SqlType::TIMESTAMPTZ},	 {"tm", SqlType::TIME},
		{"iv", SqlType::INTERVAL},	  {"bl", SqlType::BLOB},		 {"u", SqlType::UUID},
		{"l", SqlType::INTEGER_LIST}, {"tl", SqlType::VARCHAR_LIST}, {"st", SqlType::STRUCT},
		{"mp", SqlType::MAP}};
	return COLUMNS;
}

const std::vector<Column> &OddColumns() {
	static const std::vector<Column> COLUMNS{{"id", SqlType::INTEGER}, {"k", SqlType::INTEGER}, {"g", SqlType::INTEGER},
											 {"s", SqlType::VARCHAR},  {"en", SqlType::ENUM},	{"ar", SqlType::ARRAY},
											 {"bi", SqlType::BIT},	   {"tt", SqlType::TIMETZ}, {"un", SqlType::UNION},
											 {"js", SqlType::JSON}};
	return COLUMNS;
}

//! What the files hold, then what the folders' names say.
const std::vector<Column> &HiveColumns() {
	static const std::vector<Column> COLUMNS{
		{"id", SqlType::INTEGER}, {"k", SqlType::INTEGER},		{"s", SqlType::VARCHAR}, {"n", SqlType::DECIMAL},
		{"d", SqlType::DATE},	  {"l", SqlType::INTEGER_LIST}, {"g", SqlType::INTEGER}, {"p", SqlType::VARCHAR}};
	return COLUMNS;
}

std::vector<Table> TpchTables() {
	constexpr auto KIND = TableKind::TPCH;
	constexpr auto NUMBER = SqlType::INTEGER;
	constexpr auto MONEY = SqlType::DECIMAL;
	constexpr auto TEXT = SqlType::VARCHAR;
	constexpr auto DATE = SqlType::DATE;
	return {
		{"region", KIND, {{"r_regionkey", NUMBER}, {"r_name", TEXT}}, {"r_regionkey"}, 5},
		{"nation", KIND, {{"n_nationkey", NUMBER}, {"n_regionkey", NUMBER}, {"n_name", TEXT}}, {"n_nationkey"}, 25},
		{"supplier",
		 KIND,
		 {{"s_suppkey", NUMBER}, {"s_nationkey", NUMBER}, {"s_acctbal", MONEY}, {"s_name", TEXT}},
		 {"s_suppkey"},
		 20},
		{"customer",
		 KIND,
		 {{"c_custkey", NUMBER},
		  {"c_nationkey", NUMBER},
		  {"c_acctbal", MONEY},
		  {"c_mktsegment", TEXT},
		  {"c_phone", TEXT}},
		 {"c_custkey"},
		 300},
		{"part",
		 KIND,
		 {{"p_partkey", NUMBER}, {"p_size", NUMBER}, {"p_retailprice", MONEY}, {"p_brand", TEXT}, {"p_name", TEXT}},
		 {"p_partkey"},
		 400},
		{"partsupp",
		 KIND,
		 {{"ps_partkey", NUMBER}, {"ps_suppkey", NUMBER}, {"ps_availqty", NUMBER}, {"ps_supplycost", MONEY}},
		 // With so few suppliers a part may have one twice.
		 {"ps_partkey", "ps_suppkey", "ps_availqty"},
		 1600},
		{"orders",
		 KIND,
		 {{"o_orderkey", NUMBER},
		  {"o_custkey", NUMBER},
		  {"o_totalprice", MONEY},
		  {"o_orderpriority", TEXT},
		  {"o_orderstatus", TEXT},
		  {"o_orderdate", DATE}},
		 {"o_orderkey"},
		 3000},
		{"lineitem",
		 KIND,
		 {{"l_orderkey", NUMBER},
		  {"l_linenumber", NUMBER},
		  {"l_partkey", NUMBER},
		  {"l_suppkey", NUMBER},
		  {"l_quantity", MONEY},
		  {"l_extendedprice", MONEY},
		  {"l_returnflag", TEXT},
		  {"l_shipmode", TEXT},
		  {"l_shipdate", DATE}},
		 {"l_orderkey", "l_linenumber"},
		 12100},
	};
}

} // namespace

Catalog::Catalog() : tables_(TpchTables()) {
	AddAwkward("even", TableKind::AWKWARD, 120);
	AddAwkward("sparse", TableKind::AWKWARD, 80);
	AddAwkward("skewed", TableKind::AWKWARD, 160);
	AddAwkward("hollow", TableKind::AWKWARD, 40);
	AddAwkward("norows", TableKind::AWKWARD, 0);
	AddAwkward("single", TableKind::AWKWARD, 1);
	AddAwkward("lopsided", TableKind::AWKWARD, 163);
	AddAwkward("repeated", TableKind::AWKWARD, 90);
	AddAwkward("longer", TableKind::AWKWARD, 4500);
	AddAwkward("native_even", TableKind::NATIVE, 120);
	AddAwkward("native_norows", TableKind::NATIVE, 0);
	AddAwkward("temp_sparse", TableKind::TEMPORARY, 80);
	tables_.push_back({"odd", TableKind::ODD, OddColumns(), {"id"}, 110});
	tables_.push_back({"native_odd", TableKind::NATIVE, OddColumns(), {"id"}, 110});
	tables_.push_back({"hive", TableKind::HIVE, HiveColumns(), {"id"}, 100});
}

void Catalog::AddAwkward(const std::string &name, TableKind kind, double rows) {
	tables_.push_back({name, kind, AwkwardColumns(), {"id"}, rows});
}

const Table *Catalog::Find(const std::string &name) const {
	for (auto &table : tables_) {
		if (table.name == name) {
			return &table;
		}
	}
	return nullptr;
}

const std::vector<ForeignKey> &Catalog::ForeignKeys() const {
	static const std::vector<ForeignKey> KEYS{
		{"nation", "n_regionkey", "region", "r_regionkey"},	  {"supplier", "s_nationkey", "nation", "n_nationkey"},
		{"customer", "c_nationkey", "nation", "n_nationkey"}, {"orders", "o_custkey", "customer", "c_custkey"},
		{"lineitem", "l_orderkey", "orders", "o_orderkey"},	  {"lineitem", "l_partkey", "part", "p_partkey"},
		{"lineitem", "l_suppkey", "supplier", "s_suppkey"},	  {"partsupp", "ps_partkey", "part", "p_partkey"},
		{"partsupp", "ps_suppkey", "supplier", "s_suppkey"}};
	return KEYS;
}

} // namespace skein::fuzz
