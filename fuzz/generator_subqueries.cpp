#include "fuzz/generator.hpp"

namespace skein::fuzz {
namespace {

//! Rows of the query around it up to which a subquery may refer to them.
constexpr double MAX_CORRELATED_ROWS = 3000;

size_t Nesting(const Scope &scope) {
	return scope.outer ? 1 + Nesting(*scope.outer) : 0;
}

} // namespace

bool Generator::MayNest(const Scope &scope, int depth) const {
	return !no_subqueries_ && budget_ > 0 && depth > 0 && Nesting(scope) < 2 && !scope.relations.empty();
}

std::string Generator::SubqueryBody(Scope &inner, const Scope &outer, int depth) {
	budget_ -= 2;
	auto nesting = Nesting(outer);
	if (nesting > 0) {
		Use(Feature::NESTED_SUBQUERY);
	}
	auto may_refer = outer.rows <= MAX_CORRELATED_ROWS;
	auto correlated = may_refer && !no_references_ && random_.Chance(60);
	Relation relation;
	std::string from;
	if (budget_ > 0 && random_.Chance(20)) {
		from = From(inner, 0);
	} else {
		from = "FROM " + SmallSource(relation);
		inner.rows = relation.rows;
		inner.relations.push_back(relation);
	}
	std::string where;
	if (correlated) {
		Use(Feature::CORRELATED_SUBQUERY);
		// With a column of the query two levels up now and then.
		auto &source = nesting > 0 && random_.Chance(70) ? *outer.outer : outer;
		if (&source != &outer) {
			Use(Feature::CORRELATED_TWICE);
		}
		for (int tries = 0; tries < 6 && where.empty(); tries++) {
			auto column = AnyColumn(source);
			auto local = ColumnOf(column.type, inner);
			if (local) {
				where = *local + random_.Text({" = ", " = ", " = ", " = ", " < ", " IS NOT DISTINCT FROM ", " <> "}) +
						column.sql;
			}
		}
		if (random_.Chance(30)) {
			inner.outer = &outer;
		}
	}
	if (random_.Chance(45)) {
		where += (where.empty() ? "" : " AND ") + Boolean(inner, depth);
	}
	return from + (where.empty() ? "" : " WHERE " + where);
}

std::string Generator::SubqueryPredicate(const Scope &scope, int depth) {
	switch (random_.Below(6)) {
	case 0:
	case 1: {
		auto negated = random_.Chance(45);
		Use(negated ? Feature::NOT_EXISTS_SUBQUERY : Feature::EXISTS_SUBQUERY);
		Scope inner;
		auto body = SubqueryBody(inner, scope, depth);
		return std::string(negated ? "(NOT EXISTS" : "(EXISTS") + " (SELECT " +
			   random_.Text({"1", "*", "NULL", "count(*)"}) + " " + body + "))";
	}
	case 2:
	case 3:
	case 4:
		return InSubquery(scope, depth);
	default:
		return QuantifiedSubquery(scope, depth);
	}
}

std::string Generator::InSubquery(const Scope &scope, int depth) {
	auto negated = random_.Chance(45);
	Use(negated ? Feature::NOT_IN_SUBQUERY : Feature::IN_SUBQUERY);
	auto type = AnyType(scope);
	auto left = Expression(type, scope, depth);
	std::string also_left, also_right;
	Scope inner;
	auto body = SubqueryBody(inner, scope, depth);
	auto local = ColumnOf(type, inner);
	auto right = local ? *local : Literal(type);
	if (random_.Chance(15)) {
		Use(Feature::IN_SUBQUERY_ROW);
		auto column = AnyColumn(scope);
		auto other = ColumnOf(column.type, inner);
		left = "(" + left + ", " + column.sql + ")";
		right = "(" + right + ", " + (other ? *other : Literal(column.type)) + ")";
	}
	if (random_.Chance(10)) {
		body += " GROUP BY ALL";
	}
	return "(" + left + (negated ? " NOT IN (SELECT " : " IN (SELECT ") + right + " " + body + "))";
}

std::string Generator::InSubqueryAsValue(const Scope &scope) {
	Use(Feature::IN_SUBQUERY_AS_VALUE);
	auto no_references = no_references_;
	no_references_ = true;
	auto result = InSubquery(scope, 0);
	no_references_ = no_references;
	return result;
}

std::string Generator::QuantifiedSubquery(const Scope &scope, int depth) {
	auto all = random_.Chance(50);
	Use(all ? Feature::ALL_SUBQUERY : Feature::ANY_SUBQUERY);
	auto type = AnyType(scope);
	if (IsNested(type)) {
		type = SqlType::INTEGER;
	}
	auto left = Expression(type, scope, depth);
	Scope inner;
	auto body = SubqueryBody(inner, scope, depth);
	auto local = ColumnOf(type, inner);
	return "(" + left + random_.Text({" = ", " > ", " <= ", " <> "}) + (all ? "ALL" : "ANY") + " (SELECT " +
		   (local ? *local : Literal(type)) + " " + body + "))";
}

std::string Generator::ScalarSubquery(SqlType type, const Scope &scope, int depth) {
	Use(Feature::SCALAR_SUBQUERY);
	Scope inner;
	auto body = SubqueryBody(inner, scope, depth);
	Scope local = inner;
	local.outer = nullptr;
	if (random_.Chance(20)) {
		Use(Feature::SCALAR_ORDERED);
		auto column = ColumnOf(type, local);
		std::string keys;
		for (auto &key : RowKey(local)) {
			keys += (keys.empty() ? "" : ", ") + key + Direction();
		}
		return "(SELECT " + (column ? *column : Literal(type)) + " " + body + " ORDER BY " + keys + " LIMIT 1" +
			   (random_.Chance(15) ? " OFFSET 1" : "") + ")";
	}
	return "(SELECT " + AggregateOf(type, local, depth > 0 ? 1 : 0).sql + " " + body + ")";
}

} // namespace skein::fuzz
