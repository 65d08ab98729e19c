#include "fuzz/generator.hpp"

#include <algorithm>

namespace skein::fuzz {
namespace {

std::string Joined(const std::vector<std::string> &texts, const char *separator = ", ") {
	std::string result;
	for (auto &text : texts) {
		result += (result.empty() ? "" : separator) + text;
	}
	return result;
}

} // namespace

Part Generator::Items(const std::vector<TypedText> &items) {
	Part part;
	part.sql = "SELECT ";
	for (auto &item : items) {
		auto name = NewName();
		part.sql += (part.columns.empty() ? "" : ", ") + item.sql + " AS " + name;
		part.columns.push_back({name, item.type});
	}
	return part;
}

std::string Generator::Where(const Scope &scope, int depth) {
	if (!random_.Chance(45)) {
		return "";
	}
	Use(Feature::WHERE);
	return " WHERE " + Boolean(scope, depth);
}

Part Generator::Select(const Scope *outer, const std::vector<SqlType> *types, int depth) {
	budget_--;
	Scope scope;
	auto from = From(scope, depth);
	scope.outer = outer;
	auto choice = random_.Below(100);
	Part part;
	if (choice < 38 || scope.relations.empty()) {
		part = Plain(scope, from, types, depth);
	} else if (choice < 60) {
		part = Grouped(scope, from, types, depth);
	} else if (choice < 70) {
		part = Ungrouped(scope, from, types, depth);
	} else if (choice < 86) {
		part = Windowed(scope, from, types, depth);
	} else if (choice < 93) {
		part = Plain(scope, from, types, depth);
		if (part.complete) {
			return part;
		}
		Use(Feature::DISTINCT);
		part.sql.insert(sizeof("SELECT") - 1, " DISTINCT");
	} else {
		part = DistinctOn(scope, from, types, depth);
	}
	return part;
}

Part Generator::Star(Scope &scope, const std::string &from, int depth) {
	Use(Feature::STAR);
	auto &relation = scope.relations.front();
	Part part;
	part.columns = relation.columns;
	part.rows = scope.rows;
	part.sql = "SELECT " + relation.alias + ".* " + from + Where(scope, depth);
	return part;
}

Part Generator::Plain(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth) {
	auto is_awkward = scope.relations.front().columns.size() < 10 && !catalog_.Find(scope.relations.front().table);
	if (!types && is_awkward && random_.Chance(15)) {
		return Star(scope, from, depth);
	}
	std::vector<TypedText> items;
	auto wanted = types ? *types : SomeTypes(random_.Between(1, 4));
	for (auto type : wanted) {
		if (MayNest(scope, 1) && random_.Chance(6)) {
			Use(Feature::SUBQUERY_IN_SELECT);
			items.push_back({ScalarSubquery(type, scope, 1), type});
		} else if (type == SqlType::BOOLEAN && MayNest(scope, 1) && random_.Chance(50)) {
			Use(Feature::SUBQUERY_IN_SELECT);
			items.push_back({SubqueryPredicate(scope, 1), type});
		} else {
			items.push_back({Expression(type, scope, 2), type});
		}
	}
	if (!types && MayNest(scope, 1) && random_.Chance(8)) {
		items.push_back({InSubqueryAsValue(scope), SqlType::BOOLEAN});
	}
	auto list = types ? std::nullopt : ColumnOf(SqlType::INTEGER_LIST, scope);
	auto unnests = list && random_.Chance(6);
	if (unnests) {
		Use(Feature::UNNEST_IN_SELECT);
		items.push_back({"unnest(" + *list + ")", SqlType::INTEGER});
	}
	auto part = Items(items);
	part.rows = scope.rows;
	part.sql += " " + from + Where(scope, 3);
	// The rows of one list have one place in that order.
	if (!unnests && random_.Chance(6) && scope.rows < 20000) {
		// By columns that are dropped: enough to tell all rows apart.
		Use(Feature::ORDER_BY_DROPPED);
		Use(Feature::LIMIT_IN_SUBQUERY);
		part.sql += " ORDER BY " + AnyColumn(scope).sql + Direction() + ", " + Joined(RowKey(scope)) + Limit(part);
		part.complete = true;
	}
	return part;
}

std::string Generator::GroupExpression(const Scope &scope, SqlType &type) {
	auto column = AnyColumn(scope);
	type = column.type;
	if (!random_.Chance(25)) {
		return column.sql;
	}
	switch (type) {
	case SqlType::INTEGER:
		return "(" + column.sql + random_.Text({" % 3)", " // 10)", " + 1)"});
	case SqlType::VARCHAR:
		return random_.Text({"upper(", "lower(", "strip_accents("}) + column.sql + ")";
	case SqlType::DATE:
		type = SqlType::INTEGER;
		return "month(" + column.sql + ")";
	default:
		type = SqlType::BOOLEAN;
		return "(" + column.sql + " IS NULL)";
	}
}

std::string Generator::Having(const Scope &scope) {
	if (!random_.Chance(20)) {
		return "";
	}
	Use(Feature::HAVING);
	auto aggregate = random_.Chance(50) ? TypedText{"count(*)", SqlType::INTEGER} : Aggregate(scope, 0);
	auto right = aggregate.type == SqlType::INTEGER && MayNest(scope, 1) && random_.Chance(20)
					 ? "(SELECT min(id) + 1 FROM even)"
					 : Literal(aggregate.type);
	return " HAVING " + aggregate.sql + random_.Text({" > ", " <> ", " <= ", " IS DISTINCT FROM "}) + right;
}

std::string Generator::GroupBy(const std::vector<std::string> &groups, std::vector<TypedText> &items) {
	auto choice = random_.Below(100);
	if (choice < 22) {
		auto add_function = [&] {
			if (random_.Chance(50)) {
				Use(Feature::GROUPING_FUNCTION);
				items.push_back({"GROUPING(" + Joined(groups) + ")", SqlType::INTEGER});
			}
		};
		add_function();
		if (choice < 7) {
			Use(Feature::ROLLUP);
			return " GROUP BY ROLLUP (" + Joined(groups) + ")";
		}
		if (choice < 13) {
			Use(Feature::CUBE);
			return " GROUP BY CUBE (" + Joined(groups) + ")";
		}
		Use(Feature::GROUPING_SETS);
		std::string sets = "(" + Joined(groups) + ")";
		for (auto &group : groups) {
			sets += ", (" + group + ")";
		}
		if (random_.Chance(60)) {
			sets += ", ()";
		}
		return " GROUP BY GROUPING SETS (" + sets + ")";
	}
	return " GROUP BY " + Joined(groups);
}

Part Generator::Grouped(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth) {
	std::vector<std::string> groups;
	std::vector<TypedText> items;
	for (auto count = random_.Chance(60) ? 1 : random_.Between(2, 3); count > 0; count--) {
		SqlType type;
		auto group = GroupExpression(scope, type);
		if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
			groups.push_back(group);
			items.push_back({group, type});
		}
	}
	auto group_items = items;
	std::string group_by;
	if (types) {
		items.clear();
		for (auto type : *types) {
			auto found =
				std::find_if(group_items.begin(), group_items.end(), [&](auto &item) { return item.type == type; });
			items.push_back(found != group_items.end() && random_.Chance(70) ? *found : AggregateOf(type, scope, 1));
		}
		group_by = " GROUP BY " + Joined(groups);
	} else {
		for (auto count = random_.Below(4); count > 0; count--) {
			items.push_back(Aggregate(scope, 1));
		}
		if (random_.Chance(8)) {
			Use(Feature::GROUP_BY_ALL);
			group_by = " GROUP BY ALL";
		} else {
			group_by = GroupBy(groups, items);
		}
		if (random_.Chance(12)) {
			Use(Feature::WINDOW_OVER_AGGREGATE);
			items.push_back({random_.Text({"rank() OVER (ORDER BY count(*)", "sum(count(*)) OVER (ORDER BY count(*)"}) +
								 std::string(Direction()) + ")",
							 SqlType::HUGEINT});
		}
	}
	Use(Feature::GROUP_BY);
	auto part = Items(items);
	part.rows = scope.rows / 2 + 1;
	auto where = Where(scope, 2);
	part.sql += " " + from + where + group_by + Having(scope);
	return part;
}

Part Generator::Ungrouped(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth) {
	Use(Feature::UNGROUPED_AGGREGATE);
	std::vector<TypedText> items;
	if (types) {
		for (auto type : *types) {
			items.push_back(AggregateOf(type, scope, 1));
		}
	} else {
		// Of columns, whose values lie in several tasks, and with nothing that needs all rows in one.
		auto only_distinct = random_.Chance(25);
		for (auto count = random_.Between(1, only_distinct ? 2 : 4); count > 0; count--) {
			items.push_back(only_distinct ? DistinctAggregate(scope) : Aggregate(scope, 1));
		}
	}
	auto part = Items(items);
	part.rows = 1;
	part.sql += " " + from + Where(scope, 2) + Having(scope);
	return part;
}

Part Generator::Windowed(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth) {
	std::vector<TypedText> items;
	// Of rows that are the same each window may take another one first: not to be seen where there is only one.
	auto distinct_rows = std::none_of(scope.relations.begin(), scope.relations.end(),
									  [](auto &relation) { return relation.key.empty(); });
	if (types) {
		for (auto type : *types) {
			items.push_back({Expression(type, scope, 1), type});
		}
	} else {
		for (auto count = random_.Below(3); count > 0; count--) {
			items.push_back(AnyColumn(scope));
		}
		for (auto count = distinct_rows ? random_.Between(1, 2) : 1; count > 0; count--) {
			items.push_back(Window(scope, 1));
		}
	}
	std::string named;
	if (!types && random_.Chance(15)) {
		Use(Feature::WINDOW_NAMED);
		auto name = "w" + std::to_string(++next_alias_);
		items.push_back({"count(*) OVER " + name, SqlType::INTEGER});
		named = " WINDOW " + name + " AS (" + WindowSpecification(scope, false, false) + ")";
	}
	auto part = Items(items);
	part.rows = scope.rows;
	part.sql += " " + from + Where(scope, 2) + named;
	if (types || (distinct_rows && random_.Chance(20))) {
		part.sql += Qualify(scope);
	}
	return part;
}

Part Generator::DistinctOn(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth) {
	Use(Feature::DISTINCT_ON);
	auto on = AnyColumn(scope);
	std::string on_list = on.sql;
	if (random_.Chance(30)) {
		on_list += ", " + AnyColumn(scope).sql;
	}
	std::vector<TypedText> items;
	for (auto type : types ? *types : SomeTypes(random_.Between(1, 3))) {
		items.push_back({Expression(type, scope, 1), type});
	}
	if (!types) {
		items.push_back(on);
	}
	auto part = Items(items);
	part.rows = scope.rows / 2 + 1;
	part.sql.insert(sizeof("SELECT") - 1, " DISTINCT ON (" + on_list + ")");
	part.sql += " " + from + Where(scope, 2) + " ORDER BY " + (random_.Chance(60) ? on_list + ", " : "") +
				AnyColumn(scope).sql + Direction() + ", " + Joined(RowKey(scope));
	part.complete = true;
	return part;
}

} // namespace skein::fuzz
