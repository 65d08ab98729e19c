#include "fuzz/generator.hpp"

namespace skein::fuzz {

std::string Generator::Frame(bool total_order) {
	auto rows = total_order && random_.Chance(50);
	auto groups = !rows && random_.Chance(40);
	Use(rows ? Feature::WINDOW_ROWS : groups ? Feature::WINDOW_GROUPS : Feature::WINDOW_RANGE);
	std::string unit = rows ? "ROWS" : groups ? "GROUPS" : "RANGE";
	// A distance in a RANGE wants one sort key that is a number.
	auto bounded = rows || groups;
	std::string from = bounded && random_.Chance(60) ? random_.Text({"1 PRECEDING", "3 PRECEDING", "1 FOLLOWING"})
													 : random_.Text({"UNBOUNDED PRECEDING", "CURRENT ROW"});
	std::string to = bounded && random_.Chance(60) ? random_.Text({"1 FOLLOWING", "2 FOLLOWING"})
												   : random_.Text({"UNBOUNDED FOLLOWING", "CURRENT ROW"});
	if (from == "1 FOLLOWING" && to == "CURRENT ROW") {
		to = "UNBOUNDED FOLLOWING";
	}
	std::string exclude;
	if (random_.Chance(15)) {
		Use(Feature::WINDOW_EXCLUDE);
		exclude = rows ? random_.Text({" EXCLUDE CURRENT ROW", " EXCLUDE TIES"}) : random_.Text({" EXCLUDE GROUP"});
	}
	return " " + unit + " BETWEEN " + from + " AND " + to + exclude;
}

std::string Generator::WindowSpecification(const Scope &scope, bool total_order, bool frame) {
	std::string text;
	if (random_.Chance(65)) {
		Use(Feature::WINDOW_PARTITION);
		text = "PARTITION BY " + AnyColumn(scope).sql;
		if (random_.Chance(25)) {
			text += ", " + (random_.Chance(50) ? IntegerFunction(scope, 0) : AnyColumn(scope).sql);
		}
	} else {
		Use(Feature::WINDOW_NO_PARTITION);
	}
	auto ordered = total_order || random_.Chance(60);
	if (!ordered) {
		return text;
	}
	text += std::string(text.empty() ? "" : " ") + "ORDER BY ";
	std::string keys;
	if (!total_order || random_.Chance(60)) {
		keys = AnyColumn(scope).sql + Direction();
	}
	if (total_order) {
		for (auto &key : RowKey(scope)) {
			keys += (keys.empty() ? "" : ", ") + key + Direction();
		}
	}
	text += keys;
	if (frame && random_.Chance(55)) {
		text += Frame(total_order);
	}
	return text;
}

TypedText Generator::Window(const Scope &outer_scope, int depth) {
	Scope scope = outer_scope;
	scope.outer = nullptr;
	auto no_subqueries = no_subqueries_;
	no_subqueries_ = true;
	TypedText function;
	auto total_order = random_.Chance(50);
	auto frame = false;
	auto type = AnyType(scope);
	switch (random_.Below(4)) {
	case 0:
		Use(Feature::WINDOW_RANKING);
		if (total_order) {
			function = {random_.Text({"row_number()", "ntile(3)", "rank()", "dense_rank()"}), SqlType::INTEGER};
		} else if (random_.Chance(25)) {
			function = {random_.Text({"percent_rank()", "cume_dist()"}), SqlType::DOUBLE};
			function.sql = "round(" + function.sql;
		} else {
			function = {random_.Text({"rank()", "dense_rank()"}), SqlType::INTEGER};
		}
		break;
	case 1: {
		Use(Feature::WINDOW_VALUE);
		auto value = Expression(type, scope, depth);
		total_order = true;
		if (random_.Chance(50)) {
			auto offset = std::string(random_.Text({")", ", 1)", ", 2)"}));
			function = {random_.Text({"lag(", "lead("}) + value + offset, type};
		} else {
			frame = true;
			function = {random_.Chance(70) ? random_.Text({"first_value(", "last_value("}) + value + ")"
										   : "nth_value(" + value + ", 2)",
						type};
			if (random_.Chance(25)) {
				function.sql.insert(function.sql.size() - 1, " IGNORE NULLS");
			}
		}
		break;
	}
	default: {
		Use(Feature::WINDOW_AGGREGATE);
		frame = true;
		auto number = Expression(SqlType::INTEGER, scope, depth);
		auto filter = Filter(scope, 1);
		if (!filter.empty()) {
			Use(Feature::WINDOW_FILTER);
		}
		switch (random_.Below(5)) {
		case 0:
			function = {"count(*)" + filter, SqlType::INTEGER};
			break;
		case 1:
			function = {random_.Text({"min(", "max("}) + Expression(type, scope, depth) + ")" + filter, type};
			break;
		case 2: {
			auto column = AnyColumn(scope);
			// '1 month' and '30 days' are equal, and here one value or two to plain DuckDB, by what other rows there
			// are.
			auto distinct = column.type != SqlType::INTERVAL && random_.Chance(30);
			function = {std::string(distinct ? "count(DISTINCT " : "count(") + column.sql + ")" + filter,
						SqlType::INTEGER};
			break;
		}
		case 3:
			function = {"sum(" + Expression(SqlType::DECIMAL, scope, depth) + ")" + filter, SqlType::DECIMAL};
			break;
		default:
			function = {"sum(" + number + ")" + filter, SqlType::HUGEINT};
			break;
		}
	}
	}
	// Of percent_rank() and cume_dist() a multiple of 1/8.
	auto coarse = function.sql.rfind("round(", 0) == 0;
	function.sql += " OVER (" + WindowSpecification(scope, total_order, frame) + ")" + (coarse ? " * 8) / 8" : "");
	no_subqueries_ = no_subqueries;
	return function;
}

std::string Generator::Qualify(const Scope &outer_scope) {
	Use(Feature::QUALIFY);
	Scope scope = outer_scope;
	scope.outer = nullptr;
	auto specification = WindowSpecification(scope, true, false);
	return " QUALIFY row_number() OVER (" + specification + ") <= " + random_.Text({"1", "2", "3"});
}

} // namespace skein::fuzz
