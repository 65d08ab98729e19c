#include "fuzz/generator.hpp"

#include <algorithm>
#include <cmath>

namespace skein::fuzz {
namespace {

//! Rows that a join may have: more take too long.
constexpr double MAX_JOIN_ROWS = 4000;

//! How many rows of the product of two tables an equality of these columns keeps, roughly.
double Selectivity(const std::string &column, const Relation &left, const Relation &right) {
	if (column == "id" || column == "t" || column == "u") {
		return 1 / std::max(1.0, std::min(left.rows, right.rows));
	}
	if (column == "k") {
		auto skewed = [](const Relation &relation) {
			return relation.table.empty() || relation.table == "skewed" || relation.table == "single";
		};
		return skewed(left) && skewed(right) ? 0.8 : 0.08;
	}
	if (column == "b" || column == "m" || column == "ts" || column == "tz" || column == "tm" || column == "d") {
		return 0.02;
	}
	return 0.3;
}

struct ColumnPair {
	std::string left;
	std::string right;
	double selectivity;
	SqlType type;
};

std::vector<ColumnPair> Pairs(const Scope &left, const Relation &right) {
	std::vector<ColumnPair> result;
	for (auto &relation : left.relations) {
		for (auto &column : relation.columns) {
			for (auto &other : right.columns) {
				if (column.type != other.type) {
					continue;
				}
				ColumnPair pair{relation.alias + "." + column.name, right.alias + "." + other.name, 0.3, column.type};
				if (column.name == other.name) {
					pair.selectivity = Selectivity(column.name, relation, right);
					// More often than columns that have nothing in common.
					auto often = column.name == "k" ? 40 : column.name == "id" ? 12 : 6;
					result.insert(result.end(), often, pair);
				}
				result.push_back(pair);
			}
		}
	}
	return result;
}

bool IsForeignKey(const ForeignKey &key, const Relation &left, const Relation &right) {
	return left.table == key.table && right.table == key.other_table;
}

} // namespace

std::string Generator::Condition(const Scope &left, const Scope &right_scope, double &rows) {
	auto &right = right_scope.relations.back();
	auto product = std::max(1.0, left.rows) * std::max(1.0, right_scope.rows);
	for (auto &relation : left.relations) {
		for (auto &key : catalog_.ForeignKeys()) {
			if (IsForeignKey(key, relation, right) || IsForeignKey(key, right, relation)) {
				auto forward = relation.table == key.table;
				rows = std::max(left.rows, right.rows);
				Use(Feature::ON_EQUALITY);
				return relation.alias + "." + (forward ? key.column : key.other_column) + " = " + right.alias + "." +
					   (forward ? key.other_column : key.column);
			}
		}
	}
	auto pairs = Pairs(left, right);
	if (pairs.empty()) {
		rows = product;
		return "true";
	}
	auto pair = random_.Pick(pairs);
	if (IsNested(pair.type)) {
		Use(Feature::ON_NESTED_KEY);
	}
	rows = product * pair.selectivity;
	auto choice = random_.Below(100);
	if (choice < 14 && product / 2 <= MAX_JOIN_ROWS) {
		Use(Feature::ON_INEQUALITY);
		rows = product / 2;
		return pair.left + random_.Text({" < ", " >= ", " <> ", " > "}) + pair.right;
	}
	std::string equality = pair.left + " = " + pair.right;
	if (choice < 26) {
		Use(Feature::ON_NOT_DISTINCT);
		equality = pair.left + " IS NOT DISTINCT FROM " + pair.right;
		rows *= 1.5;
	} else if (choice < 34 && pair.type == SqlType::INTEGER) {
		Use(Feature::ON_EXPRESSION);
		equality = pair.left + random_.Text({" + 1 = ", " % 50 = ", " = 2 + "}) + pair.right;
	} else {
		Use(Feature::ON_EQUALITY);
	}
	if (random_.Chance(22)) {
		Use(Feature::ON_TWO_KEYS);
		auto other = random_.Pick(pairs);
		equality += " AND " + other.left + " = " + other.right;
		rows = std::min(rows, product * other.selectivity);
	}
	if (random_.Chance(18)) {
		Use(Feature::ON_MIXED);
		auto other = random_.Pick(pairs);
		equality += " AND " + other.left + random_.Text({" < ", " >= ", " <> "}) + other.right;
	} else if (random_.Chance(8)) {
		Use(Feature::ON_MIXED);
		Scope both = left;
		both.relations.push_back(right);
		auto no_subqueries = no_subqueries_;
		no_subqueries_ = true;
		equality += " AND " + Boolean(both, 1);
		no_subqueries_ = no_subqueries;
	}
	return equality;
}

std::string Generator::NaturalJoin(Scope &scope) {
	Relation left, right;
	auto left_source = AwkwardSource(left);
	auto right_source = AwkwardSource(right);
	auto column = [](const Relation &relation, const char *name) { return relation.alias + "." + name; };
	Relation first{NewAlias(), {{"k", SqlType::INTEGER}, {"g", SqlType::INTEGER}, {"t1", SqlType::VARCHAR}}, {}, 0, ""};
	Relation second{
		NewAlias(), {{"k", SqlType::INTEGER}, {"g", SqlType::INTEGER}, {"s2", SqlType::VARCHAR}}, {}, 0, ""};
	first.rows = left.rows;
	second.rows = right.rows;
	std::string keyword = random_.Text({"NATURAL JOIN", "NATURAL LEFT JOIN", "NATURAL FULL JOIN"});
	Use(Feature::NATURAL_JOIN);
	scope.rows = std::min(MAX_JOIN_ROWS, std::max(left.rows, right.rows) * 8);
	scope.relations = {first, second};
	return "FROM (SELECT " + column(left, "k") + ", " + column(left, "g") + ", " + column(left, "t") + " AS t1 FROM " +
		   left_source + ") " + first.alias + " " + keyword + " (SELECT " + column(right, "k") + ", " +
		   column(right, "g") + ", " + column(right, "s") + " AS s2 FROM " + right_source + ") " + second.alias;
}

std::string Generator::Lateral(Scope &scope, const std::string &left, int depth) {
	auto lists = ColumnOf(SqlType::INTEGER_LIST, scope);
	if (lists && random_.Chance(35)) {
		Use(Feature::UNNEST_LATERAL);
		Relation relation{NewAlias(), {{"e", SqlType::INTEGER}}, {}, 2, ""};
		auto sql = left + ", unnest(" + *lists + ") " + relation.alias + "(e)";
		scope.relations.push_back(relation);
		return sql;
	}
	Use(Feature::LATERAL_JOIN);
	Relation inner_relation;
	auto source = AwkwardSource(inner_relation);
	Scope inner;
	inner.relations.push_back(inner_relation);
	auto column = AnyColumn(scope);
	auto local = ColumnOf(column.type, inner);
	auto where = local ? *local + random_.Text({" = ", " = ", " IS NOT DISTINCT FROM ", " < "}) + column.sql : "true";
	Relation relation{NewAlias(), {}, {}, 2, ""};
	std::string select;
	if (random_.Chance(50)) {
		auto first = Aggregate(inner, 1);
		relation.columns = {{"y1", first.type}, {"y2", SqlType::INTEGER}};
		select = "SELECT " + first.sql + " AS y1, count(*) AS y2 FROM " + source + " WHERE " + where;
	} else {
		auto first = AnyColumn(inner);
		relation.columns = {{"y1", first.type}, {"y2", SqlType::INTEGER}};
		select = "SELECT " + first.sql + " AS y1, " + inner_relation.alias + ".id AS y2 FROM " + source + " WHERE " +
				 where + " ORDER BY " + AnyColumn(inner).sql + Direction() + ", " + inner_relation.alias +
				 ".id LIMIT 2";
	}
	scope.relations.push_back(relation);
	scope.rows *= 2;
	return left + random_.Text({", LATERAL (", " CROSS JOIN LATERAL ("}) + select + ") " + relation.alias;
}

std::string Generator::SpecialJoin(Scope &scope, const std::string &left) {
	Relation relation;
	auto source = AwkwardSource(relation);
	auto &first = scope.relations.front();
	auto awkward =
		scope.relations.size() == 1 && !first.table.empty() && first.columns.size() == relation.columns.size();
	// A join, also a SEMI JOIN, promises no order.
	auto in_order = left.find(" JOIN ") == std::string::npos;
	if (awkward && in_order && random_.Chance(25)) {
		Use(Feature::POSITIONAL_JOIN);
		scope.rows = std::max(scope.rows, relation.rows);
		// Where one side ends its columns are NULL, the key too.
		scope.relations.push_back(relation);
		return left + " POSITIONAL JOIN " + source;
	}
	if (awkward && random_.Chance(60)) {
		static const std::vector<std::string> KEYWORDS{"JOIN",		"LEFT JOIN", "RIGHT JOIN",
													   "FULL JOIN", "SEMI JOIN", "ANTI JOIN"};
		auto keyword = random_.Pick(KEYWORDS);
		Use(Feature::USING_JOIN);
		std::string columns = random_.Text({"k", "k, g", "id", "s", "k, s", "f, k", "l", "st"});
		if (columns == "s" || columns == "l" || columns == "st") {
			columns += ", k";
		}
		scope.rows = std::max(scope.rows, relation.rows) * 4;
		if (keyword != "SEMI JOIN" && keyword != "ANTI JOIN") {
			scope.relations.push_back(relation);
		}
		return left + " " + keyword + " " + source + " USING (" + columns + ")";
	}
	auto number = ColumnOf(SqlType::INTEGER, scope);
	if (!number) {
		return left;
	}
	auto is_left = random_.Chance(50);
	Use(is_left ? Feature::ASOF_LEFT_JOIN : Feature::ASOF_JOIN);
	std::string equality;
	Scope inner;
	inner.relations.push_back(relation);
	if (random_.Chance(75)) {
		auto column = AnyColumn(scope);
		// The ASOF JOIN of DuckDB 1.5.5 alone misses some rows whose keys are equal nested values.
		auto local = IsNested(column.type) ? std::nullopt : ColumnOf(column.type, inner);
		equality = local ? column.sql + " = " + *local + " AND " : "";
	}
	scope.relations.push_back(relation);
	// That of DuckDB 1.5.5 alone also finds partners for NULLs, if it does not take its plan for few rows.
	return left + (is_left ? " ASOF LEFT JOIN " : " ASOF JOIN ") + source + " ON " + equality + "coalesce(" + *number +
		   ", 0)" + random_.Text({" >= ", " > ", " <= ", " < "}) + relation.alias + ".id";
}

std::string Generator::Join(Scope &scope, const std::string &left, int depth) {
	if (random_.Chance(10) && scope.rows < 500) {
		return Lateral(scope, left, depth);
	}
	if (random_.Chance(16)) {
		return SpecialJoin(scope, left);
	}
	Relation relation;
	std::string source;
	auto &last = scope.relations.back();
	if (!last.table.empty() && catalog_.Find(last.table) && random_.Chance(12)) {
		Use(Feature::SELF_JOIN);
		relation = last;
		relation.alias = NewAlias();
		source = last.table + " " + relation.alias;
	} else {
		source = Source(relation, nullptr, depth);
	}
	Scope right;
	right.relations.push_back(relation);
	right.rows = relation.rows;
	if (scope.rows * relation.rows <= MAX_JOIN_ROWS && random_.Chance(8)) {
		Use(Feature::CROSS_JOIN);
		scope.relations.push_back(relation);
		scope.rows *= relation.rows;
		return left + random_.Text({" CROSS JOIN ", ", "}) + source;
	}
	if (random_.Chance(10) && relation.rows < 300) {
		// A join on the right of a join.
		Use(Feature::JOIN_NESTED_RIGHT);
		Relation nested;
		auto nested_source = AwkwardSource(nested);
		Scope nested_scope;
		nested_scope.relations.push_back(nested);
		nested_scope.rows = nested.rows;
		double rows = 0;
		auto condition = Condition(right, nested_scope, rows);
		if (rows <= MAX_JOIN_ROWS) {
			source = "(" + source + random_.Text({" JOIN ", " LEFT JOIN "}) + nested_source + " ON " + condition + ")";
			right.relations.insert(right.relations.begin(), nested);
			right.rows = std::max(rows, relation.rows);
		}
	}
	double rows = 0;
	auto condition = Condition(scope, right, rows);
	auto limit = std::max({MAX_JOIN_ROWS, scope.rows, right.rows});
	if (rows > limit || (condition == "true" && rows > 1000)) {
		return left;
	}
	struct Kind {
		const char *keyword;
		Feature feature;
		bool right_visible;
	};
	static const std::vector<Kind> KINDS{
		{" JOIN ", Feature::INNER_JOIN, true},	   {" JOIN ", Feature::INNER_JOIN, true},
		{" JOIN ", Feature::INNER_JOIN, true},	   {" LEFT JOIN ", Feature::LEFT_JOIN, true},
		{" LEFT JOIN ", Feature::LEFT_JOIN, true}, {" RIGHT JOIN ", Feature::RIGHT_JOIN, true},
		{" FULL JOIN ", Feature::FULL_JOIN, true}, {" SEMI JOIN ", Feature::SEMI_JOIN, false},
		{" ANTI JOIN ", Feature::ANTI_JOIN, false}};
	auto &kind = random_.Pick(KINDS);
	Use(kind.feature);
	scope.rows = std::max({rows, scope.rows, right.rows});
	if (kind.right_visible) {
		scope.relations.insert(scope.relations.end(), right.relations.begin(), right.relations.end());
	}
	return left + kind.keyword + source + " ON " + condition;
}

std::string Generator::From(Scope &scope, int depth) {
	if (random_.Chance(3)) {
		return NaturalJoin(scope);
	}
	Relation relation;
	auto text = "FROM " + Source(relation, nullptr, depth);
	scope.rows = relation.rows;
	scope.relations.push_back(std::move(relation));
	auto joins = random_.Chance(55) ? 0 : random_.Chance(65) ? 1 : random_.Chance(70) ? 2 : 3;
	for (; joins > 0 && budget_ > 0; joins--) {
		budget_--;
		text = Join(scope, text, depth);
	}
	return text;
}

} // namespace skein::fuzz
