#include "fuzz/generator.hpp"

#include <algorithm>

namespace skein::fuzz {

std::string Generator::NewAlias() {
	return "q" + std::to_string(++next_alias_);
}

std::string Generator::AwkwardSource(Relation &relation) {
	static const std::vector<std::string> NAMES{"even",		"even",		   "sparse",		"sparse",	  "skewed",
												"skewed",	"hollow",	   "hollow",		"norows",	  "single",
												"lopsided", "lopsided",	   "repeated",		"repeated",	  "repeated",
												"longer",	"native_even", "native_norows", "temp_sparse"};
	auto &table = *catalog_.Find(random_.Pick(NAMES));
	switch (table.kind) {
	case TableKind::NATIVE:
		Use(Feature::NATIVE_TABLE);
		break;
	case TableKind::TEMPORARY:
		Use(Feature::TEMP_TABLE);
		break;
	default:
		Use(Feature::AWKWARD_TABLE);
		break;
	}
	relation = {NewAlias(), table.columns, table.key, table.rows, table.name};
	return table.name + " " + relation.alias;
}

std::string Generator::OddSource(Relation &relation) {
	static const std::vector<std::string> NAMES{"odd", "odd", "odd", "native_odd", "hive", "hive"};
	auto &table = *catalog_.Find(random_.Pick(NAMES));
	Use(table.kind == TableKind::HIVE ? Feature::HIVE_TABLE : Feature::ODD_TABLE);
	relation = {NewAlias(), table.columns, table.key, table.rows, table.name};
	return table.name + " " + relation.alias;
}

std::string Generator::SmallSource(Relation &relation) {
	return random_.Chance(14) ? OddSource(relation) : AwkwardSource(relation);
}

std::string Generator::TableSource(Relation &relation) {
	if (!random_.Chance(12)) {
		return SmallSource(relation);
	}
	static const std::vector<std::string> NAMES{"region",	"nation",	"nation",	"supplier", "supplier",
												"customer", "customer", "customer", "part",		"part",
												"partsupp", "orders",	"lineitem"};
	Use(Feature::TPCH_TABLE);
	auto &table = *catalog_.Find(random_.Pick(NAMES));
	relation = {NewAlias(), table.columns, table.key, table.rows, table.name};
	return table.name + " " + relation.alias;
}

std::string Generator::FunctionSource(Relation &relation) {
	relation.alias = NewAlias();
	relation.rows = 8;
	auto name = [&](const std::string &columns) { return " " + relation.alias + "(" + columns + ")"; };
	switch (random_.Below(4)) {
	case 0: {
		Use(Feature::VALUES_LIST);
		relation.columns = {{"v1", SqlType::INTEGER}, {"v2", SqlType::VARCHAR}};
		std::string rows;
		for (auto count = random_.Between(1, 4); count > 0; count--) {
			rows += (rows.empty() ? "(" : ", (") + Literal(SqlType::INTEGER) + ", " + Literal(SqlType::VARCHAR) + ")";
		}
		return "(VALUES " + rows + ")" + name("v1, v2");
	}
	case 1:
	case 2:
		Use(Feature::RANGE_FUNCTION);
		relation.columns = {{"i", SqlType::INTEGER}};
		return random_.Text(
				   {"range(0, 12)", "generate_series(1, 7)", "range(3)", "range(0)", "generate_series(-2, 9, 2)"}) +
			   name("i");
	default:
		Use(Feature::UNNEST_FUNCTION);
		relation.columns = {{"e", SqlType::INTEGER}};
		return "unnest(" + std::string(random_.Text({"[1, 2, NULL, 7]", "[0, 0, 3]", "[]::INTEGER[]"})) + ")" +
			   name("e");
	}
}

std::string Generator::PivotSource(Relation &relation) {
	Relation table;
	auto source = AwkwardSource(table);
	relation.alias = NewAlias();
	auto column = [&](const char *name) { return table.alias + "." + name; };
	if (random_.Chance(50)) {
		Use(Feature::UNPIVOT);
		relation.columns = {{"id", SqlType::INTEGER}, {"nm", SqlType::VARCHAR}, {"vl", SqlType::INTEGER}};
		relation.rows = 2 * table.rows;
		return std::string("(FROM (SELECT ") + column("id") + ", " + column("k") + ", " + column("g") + " FROM " +
			   source + ") UNPIVOT " + (random_.Chance(30) ? "INCLUDE NULLS " : "") + "(vl FOR nm IN (k, g))) " +
			   relation.alias;
	}
	Use(Feature::PIVOT);
	std::string by = random_.Text({"s", "c", "d"});
	auto type = by == "s" ? SqlType::VARCHAR : by == "c" ? SqlType::BOOLEAN : SqlType::DATE;
	relation.columns = {{by, type},
						{"\"0_z\"", SqlType::INTEGER},
						{"\"0_w\"", SqlType::INTEGER},
						{"\"3_z\"", SqlType::INTEGER},
						{"\"3_w\"", SqlType::INTEGER}};
	relation.rows = 20;
	return "(FROM (SELECT " + column(by.c_str()) + ", " + column("g") + ", " + column("k") + " FROM " + source +
		   ") PIVOT (" + random_.Text({"max", "min", "count"}) + "(k) AS z, count(*) AS w FOR g IN (0, 3) GROUP BY " +
		   by + ")) " + relation.alias;
}

std::string Generator::SubquerySource(Relation &relation, int depth) {
	Use(Feature::SUBQUERY_IN_FROM);
	budget_ -= 2;
	auto part = Query(nullptr, nullptr, depth - 1);
	relation.alias = NewAlias();
	relation.columns = part.columns;
	relation.rows = part.rows;
	return "(" + part.sql + ") " + relation.alias;
}

std::string Generator::Source(Relation &relation, const Scope *lateral, int depth) {
	if (!ctes_.empty() && random_.Chance(50)) {
		Use(Feature::CTE);
		auto cte = random_.Pick(ctes_);
		if (std::find(ctes_read_.begin(), ctes_read_.end(), cte.table) != ctes_read_.end()) {
			Use(Feature::CTE_READ_TWICE);
		}
		ctes_read_.push_back(cte.table);
		relation = cte;
		relation.alias = NewAlias();
		return cte.table + " " + relation.alias;
	}
	auto choice = random_.Below(100);
	if (choice < 16 && depth > 0 && budget_ > 0) {
		return SubquerySource(relation, depth);
	}
	if (choice < 22) {
		return FunctionSource(relation);
	}
	if (choice < 26) {
		return PivotSource(relation);
	}
	return TableSource(relation);
}

} // namespace skein::fuzz
