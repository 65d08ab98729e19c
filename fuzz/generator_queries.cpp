#include "fuzz/generator.hpp"

#include <algorithm>

namespace skein::fuzz {

Generator::Generator(const Catalog &catalog, uint64_t seed) : catalog_(catalog), random_(seed) {
	// Most are small: these are quick to run and to understand.
	budget_ = static_cast<int>(random_.Chance(66) ? random_.Between(1, 3) : random_.Between(4, 9));
}

std::string Generator::NewName() {
	return "x" + std::to_string(++next_name_);
}

std::string Generator::Direction() {
	if (random_.Chance(45)) {
		return "";
	}
	std::string text = random_.Text({"", " DESC", " ASC"});
	if (random_.Chance(45)) {
		Use(Feature::ORDER_BY_NULLS);
		text += random_.Text({" NULLS FIRST", " NULLS LAST"});
	}
	return text;
}

SqlType Generator::SomeType() {
	auto choice = random_.Below(100);
	return choice < 38	 ? SqlType::INTEGER
		   : choice < 58 ? SqlType::VARCHAR
		   : choice < 66 ? SqlType::BOOLEAN
						 : random_.Pick(AllSqlTypes());
}

std::vector<SqlType> Generator::SomeTypes(size_t count) {
	std::vector<SqlType> result;
	for (size_t i = 0; i < count; i++) {
		result.push_back(SomeType());
	}
	return result;
}

std::string Generator::TotalOrder(const std::vector<Column> &columns) {
	if (random_.Chance(20)) {
		Use(Feature::ORDER_BY_ALL);
		return " ORDER BY ALL" + Direction();
	}
	std::vector<std::string> names;
	for (auto &column : columns) {
		names.push_back(column.name);
	}
	std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(random_.Below(names.size())), names.end());
	std::string text;
	for (auto &name : names) {
		text += (text.empty() ? " ORDER BY " : ", ") + name + Direction();
	}
	return text;
}

std::string Generator::SomeOrder(const Part &part, bool plain_columns) {
	std::string text;
	for (auto count = random_.Between(1, 2); count > 0; count--) {
		auto &column = random_.Pick(part.columns);
		auto term = column.name;
		if (!plain_columns && column.type == SqlType::VARCHAR && random_.Chance(30)) {
			Use(Feature::ORDER_BY_COLLATE);
			term += random_.Text({" COLLATE NOCASE", " COLLATE NOACCENT", " COLLATE NOCASE.NOACCENT"});
		} else if (!plain_columns && column.type == SqlType::INTEGER && random_.Chance(20)) {
			Use(Feature::ORDER_BY_EXPRESSION);
			term = random_.Text({"-", "abs("}) == std::string("-") ? "-" + term : "(" + term + " % 7)";
		}
		text += (text.empty() ? " ORDER BY " : ", ") + term + Direction();
	}
	return text;
}

std::string Generator::Limit(const Part &part) {
	auto choice = random_.Below(100);
	Use(Feature::LIMIT);
	if (choice < 5) {
		Use(Feature::LIMIT_ZERO);
		return " LIMIT 0";
	}
	if (choice < 15) {
		Use(Feature::LIMIT_PERCENT);
		return random_.Text({" LIMIT 10%", " LIMIT 50%", " LIMIT 34.5%"});
	}
	std::string text;
	if (choice < 23 && !no_subqueries_) {
		Use(Feature::LIMIT_EXPRESSION);
		text = random_.Text(
			{" LIMIT (SELECT max(g) FROM even)", " LIMIT (SELECT count(*) FROM hollow)", " LIMIT (1 + 2)"});
	} else if (choice < 32) {
		Use(Feature::OFFSET);
		return std::string(" OFFSET ") + random_.Text({"1", "5", "30", "1000000"});
	} else {
		text = std::string(" LIMIT ") + random_.Text({"1", "3", "10", "50", "2000"});
	}
	if (random_.Chance(35)) {
		Use(Feature::OFFSET);
		text += std::string(" OFFSET ") + random_.Text({"1", "2", "7", "40", "(SELECT 2)"});
	}
	return text;
}

void Generator::OrderAndLimit(Part &part, bool top) {
	if (part.complete) {
		return;
	}
	part.complete = true;
	auto choice = random_.Below(100);
	if (!top) {
		if (choice < 25) {
			Use(Feature::LIMIT_IN_SUBQUERY);
			part.sql += TotalOrder(part.columns) + Limit(part);
		}
		return;
	}
	if (choice < 45) {
		return;
	}
	Use(Feature::ORDER_BY);
	if (choice < 60) {
		part.sql += SomeOrder(part, false);
	} else if (choice < 68) {
		Use(Feature::LIMIT_WITH_TIES);
		part.sql += SomeOrder(part, true) + " LIMIT " + random_.Text({"1", "4", "20"});
	} else {
		part.sql += TotalOrder(part.columns) + (random_.Chance(65) ? Limit(part) : "");
	}
}

Part Generator::SetOperation(const Scope *outer, const std::vector<SqlType> *types, int depth) {
	struct Operation {
		const char *text;
		Feature feature;
	};
	static const std::vector<Operation> OPERATIONS{{" UNION ALL ", Feature::UNION_ALL},
												   {" UNION ALL ", Feature::UNION_ALL},
												   {" UNION ", Feature::UNION},
												   {" EXCEPT ", Feature::EXCEPT},
												   {" EXCEPT ALL ", Feature::EXCEPT_ALL},
												   {" INTERSECT ", Feature::INTERSECT},
												   {" INTERSECT ALL ", Feature::INTERSECT_ALL}};
	auto wanted = types ? *types : SomeTypes(random_.Between(1, 3));
	auto left = random_.Chance(20) && budget_ > 2 ? SetOperation(outer, &wanted, depth) : Select(outer, &wanted, depth);
	if (left.sql[0] == '(') {
		Use(Feature::NESTED_SET_OPERATION);
	}
	Part result;
	result.columns = left.columns;
	result.rows = left.rows;
	result.sql = "(" + left.sql + ")";
	for (auto count = random_.Chance(75) ? 1 : random_.Between(2, 4); count > 0; count--) {
		auto right = Select(outer, &wanted, depth);
		if (!types && random_.Chance(10)) {
			Use(Feature::UNION_BY_NAME);
			// Some columns are on both sides, in another order.
			std::vector<TypedText> items;
			for (auto &column : right.columns) {
				items.push_back({column.name, column.type});
			}
			std::string list;
			for (size_t i = items.size(); i-- > 0;) {
				auto name =
					result.columns[i].type == items[i].type && random_.Chance(70) ? result.columns[i].name : NewName();
				list += (list.empty() ? "" : ", ") + items[i].sql + " AS " + name;
				if (name != result.columns[i].name) {
					result.columns.push_back({name, items[i].type});
				}
			}
			result.sql += " UNION " + std::string(random_.Chance(50) ? "ALL " : "") + "BY NAME (SELECT " + list +
						  " FROM (" + right.sql + ") " + NewAlias() + ")";
			result.rows += right.rows;
			break;
		}
		auto &operation = random_.Pick(OPERATIONS);
		Use(operation.feature);
		result.sql += operation.text + ("(" + right.sql + ")");
		result.rows += right.rows;
	}
	return result;
}

Part Generator::Query(const Scope *outer, const std::vector<SqlType> *types, int depth) {
	auto top = depth >= 2;
	Part part;
	if (!types && random_.Chance(7)) {
		part = RowOrdered(depth);
	} else if (random_.Chance(4)) {
		part = UnionThatEndsEarly(types);
	} else if (!types && random_.Chance(1)) {
		part = WithoutFrom();
	} else {
		part = random_.Chance(14) ? SetOperation(outer, types, depth) : Select(outer, types, depth);
	}
	OrderAndLimit(part, top);
	return part;
}

std::string Generator::UnionPart(const std::vector<SqlType> &types, bool ends_early, Part &part) {
	//! True of no row, which statistics do not tell.
	auto never = [&](const std::string &alias) {
		auto id = "(" + alias + ".id % 9)";
		return random_.Chance(20) ? alias + ".s LIKE 'never%'"
								  : id + " * " + id + random_.Text({" = 2", " = 7", " = 50"});
	};
	Relation relation, other;
	Scope scope;
	auto from = " FROM " + TableSource(relation);
	scope.relations.push_back(relation);
	std::vector<TypedText> items;
	for (auto type : types) {
		items.push_back({Expression(type, scope, 1), type});
	}
	part = Items(items);
	part.rows = relation.rows;
	auto has_id =
		std::any_of(relation.columns.begin(), relation.columns.end(), [](auto &column) { return column.name == "id"; });
	auto sql = part.sql + from;
	if (!ends_early) {
		return sql + Where(scope, 1);
	}
	Use(Feature::UNION_ENDS_EARLY);
	switch (has_id ? random_.Below(7) : 0) {
	case 0:
		return sql + random_.Text({" LIMIT 1", " LIMIT 3", " LIMIT 20", " LIMIT 4 OFFSET 2"});
	case 1: {
		auto source = SmallSource(other);
		return sql + " WHERE EXISTS (SELECT 1 FROM " + source + " WHERE " + never(other.alias) + ")";
	}
	default: {
		auto keyword = random_.Text({" JOIN ", " JOIN ", " JOIN ", " SEMI JOIN ", " RIGHT JOIN "});
		auto source = SmallSource(other);
		auto column = random_.Text({".k", ".id"});
		return sql + keyword + "(SELECT * FROM " + source + " WHERE " + never(other.alias) + ") " + other.alias +
			   " ON " + relation.alias + column + " = " + other.alias + column;
	}
	}
}

std::string Generator::WideUnionPart(const std::vector<SqlType> &types, Part &part) {
	auto &table = *catalog_.Find("longer");
	Relation relation{NewAlias(), table.columns, table.key, table.rows, table.name};
	Scope scope;
	scope.relations.push_back(relation);
	std::vector<TypedText> items;
	for (auto type : types) {
		auto text = type == SqlType::VARCHAR && items.empty() ? "repeat(" + relation.alias + ".t, 60)"
															  : Expression(type, scope, 1);
		items.push_back({text, type});
	}
	part = Items(items);
	part.rows = relation.rows;
	return part.sql + " FROM " + table.name + " " + relation.alias;
}

Part Generator::UnionThatEndsEarly(const std::vector<SqlType> *types) {
	Use(Feature::UNION_ALL);
	auto no_subqueries = no_subqueries_;
	no_subqueries_ = true;
	auto wanted = types ? *types : SomeTypes(random_.Between(1, 3));
	auto wide = !types && random_.Chance(35);
	if (wide) {
		wanted.insert(wanted.begin(), SqlType::VARCHAR);
	}
	auto count = random_.Chance(40) ? 2 : random_.Between(3, 5);
	auto early = random_.Between(0, count - 1);
	Part result;
	for (int64_t i = 0; i < count; i++) {
		Part part;
		auto ends_early = i == early || random_.Chance(20);
		result.sql += i == 0 ? "(" : " UNION ALL (";
		result.sql += wide && !ends_early ? WideUnionPart(wanted, part) : UnionPart(wanted, ends_early, part);
		result.sql += ")";
		result.rows += part.rows;
		if (i == 0) {
			result.columns = part.columns;
		}
	}
	no_subqueries_ = no_subqueries;
	return result;
}

Part Generator::RowOrdered(int depth) {
	Relation relation;
	auto source = TableSource(relation);
	Scope scope;
	scope.relations.push_back(relation);
	scope.rows = relation.rows;
	auto no_subqueries = no_subqueries_;
	no_subqueries_ = true;
	auto branch = [&](const std::vector<SqlType> &types) {
		std::vector<TypedText> items;
		for (auto type : types) {
			items.push_back({Expression(type, scope, 1), type});
		}
		auto part = Items(items);
		part.sql += " FROM " + source + Where(scope, 2);
		return part;
	};
	auto types = SomeTypes(random_.Between(1, 3));
	types.push_back(SqlType::INTEGER);
	auto part = branch(types);
	part.rows = relation.rows;
	if (random_.Chance(20)) {
		Use(Feature::UNION_ALL);
		auto second = branch(types);
		part.sql = part.sql + " UNION ALL " + second.sql;
		part.rows *= 2;
	}
	if (depth < 2 || random_.Chance(60)) {
		Use(Feature::LIMIT_WITHOUT_ORDER);
		part.sql += random_.Text({" LIMIT 1", " LIMIT 5", " LIMIT 5 OFFSET 3", " LIMIT 2 OFFSET 9",
								  " LIMIT 40 OFFSET 3", " OFFSET 20", " LIMIT 1000"});
	}
	no_subqueries_ = no_subqueries;
	part.complete = true;
	if (depth >= 2) {
		Use(Feature::ROW_ORDER);
		row_order_ = true;
	}
	return part;
}

std::string Generator::With(int depth) {
	std::string text = "WITH ";
	for (auto count = random_.Chance(70) ? 1 : 2; count > 0; count--) {
		budget_ = std::max(budget_, 1);
		auto part = Query(nullptr, nullptr, 1);
		auto name = "cte" + std::to_string(ctes_.size() + 1);
		std::string hint;
		if (random_.Chance(50)) {
			auto materialized = random_.Chance(60);
			Use(materialized ? Feature::CTE_MATERIALIZED : Feature::CTE_NOT_MATERIALIZED);
			hint = materialized ? "MATERIALIZED " : "NOT MATERIALIZED ";
		}
		text += (ctes_.empty() ? "" : ", ") + name + " AS " + hint + "(" + part.sql + ")";
		ctes_.push_back({"", part.columns, {}, part.rows, name});
	}
	return text + " ";
}

Part Generator::WithoutFrom() {
	Use(Feature::NO_FROM);
	Scope scope;
	std::vector<TypedText> items;
	for (auto type : SomeTypes(random_.Between(1, 3))) {
		items.push_back({random_.Chance(70) ? ScalarSubquery(type, scope, 1) : Literal(type), type});
	}
	if (random_.Chance(40)) {
		items.push_back({SubqueryPredicate(scope, 1), SqlType::BOOLEAN});
	}
	auto part = Items(items);
	part.rows = 1;
	return part;
}

Part Generator::Recursive() {
	Use(Feature::RECURSIVE_CTE);
	auto distinct = random_.Chance(50);
	if (distinct) {
		Use(Feature::RECURSIVE_UNION);
	}
	Relation base, step;
	auto base_source = AwkwardSource(base);
	auto step_source = AwkwardSource(step);
	std::string sql = "WITH RECURSIVE r(n, x) AS (SELECT 0, " + base.alias + "." + random_.Text({"k", "g", "id"}) +
					  " FROM " + base_source + " WHERE " + base.alias + ".id < 30 " +
					  (distinct ? "UNION" : "UNION ALL");
	switch (random_.Below(3)) {
	case 0:
		sql += " SELECT r.n + 1, r.x + 1 FROM r WHERE r.n < 4)";
		break;
	case 1:
		sql += " SELECT r.n + 1, " + step.alias + ".k FROM r JOIN " + step_source + " ON " + step.alias +
			   ".id = r.x + 1 WHERE r.n < 3)";
		break;
	default:
		sql += " SELECT r.n + 1, r.x FROM r WHERE r.n < 3 AND r.x IN (SELECT " + step.alias + ".k FROM " + step_source +
			   "))";
		break;
	}
	ctes_.push_back({"", {{"n", SqlType::INTEGER}, {"x", SqlType::INTEGER}}, {}, 120, "r"});
	budget_ = std::max(budget_, 1);
	auto part = Query(nullptr, nullptr, 2);
	part.sql = sql + " " + part.sql;
	return part;
}

Part Generator::Failing() {
	Use(Feature::RUNTIME_ERROR);
	Part part;
	part.sql =
		random_.Text({"SELECT CAST(t AS INTEGER) FROM even", "SELECT g, sum(CAST(s AS INTEGER)) FROM skewed GROUP BY g",
					  "SELECT max(CAST(b AS TINYINT)) FROM longer", "SELECT (SELECT k FROM even) FROM repeated",
					  "SELECT count(*) FROM even a JOIN lopsided b ON a.k = CAST(b.t AS INTEGER)",
					  "SELECT CAST(t AS DATE) AS x FROM repeated ORDER BY x",
					  "SELECT DISTINCT CAST(s AS DOUBLE) FROM sparse", "SELECT error('no ' || id) FROM hollow",
					  "SELECT row_number() OVER (PARTITION BY CAST(t AS INTEGER) ORDER BY id) FROM native_even"});
	part.complete = true;
	return part;
}

GeneratedQuery Generator::Generate() {
	Part part;
	auto choice = random_.Below(200);
	if (choice == 0) {
		part = Failing();
	} else if (choice < 8) {
		part = Recursive();
	} else if (choice < 28) {
		Use(Feature::CTE);
		auto with = With(1);
		part = Query(nullptr, nullptr, 2);
		part.sql = with + part.sql;
		row_order_ = false;
	} else {
		part = Query(nullptr, nullptr, 2);
	}
	return {part.sql, features_, row_order_};
}

} // namespace skein::fuzz
