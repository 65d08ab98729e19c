#pragma once

#include "fuzz/catalog.hpp"
#include "fuzz/feature.hpp"
#include "fuzz/random.hpp"

#include <optional>
#include <string>
#include <vector>

namespace skein::fuzz {

//! A query whose answer is the same however it is computed.
struct GeneratedQuery {
	std::string sql;
	FeatureSet features;
	//! Whether DuckDB promises the order of the rows, though there is no ORDER BY.
	bool row_order = false;
};

//! Something in FROM whose columns expressions may name.
struct Relation {
	std::string alias;
	std::vector<Column> columns;
	//! Columns that order the rows completely, up to rows that are the same; empty: all columns do.
	std::vector<std::string> key;
	double rows = 0;
	//! The name of the table; empty: it is none.
	std::string table;
};

struct Scope {
	std::vector<Relation> relations;
	//! What the query around this one has in scope; nullptr: nothing that may be used.
	const Scope *outer = nullptr;
	double rows = 0;
};

//! A query, or a part of one.
struct Part {
	std::string sql;
	std::vector<Column> columns;
	double rows = 0;
	//! Whether it has its ORDER BY and LIMIT already.
	bool complete = false;
};

struct TypedText {
	std::string sql;
	SqlType type;
};

//! Writes random queries that bind, over the tables of a catalog. The same seed gives the same query.
//!
//! Answers are determined: what takes some of several rows orders them completely, up to rows that are the same; what
//! depends on the order in which values come has an ORDER BY; sums of DOUBLE are sums of multiples of powers of two,
//! thus exact; values that are equal but look different (-0.0, texts under a collation) are not made visible.
//! The grammar is spread over the files generator_*.cpp.
class Generator {
public:
	Generator(const Catalog &catalog, uint64_t seed);

	GeneratedQuery Generate();

private:
	enum class Shape { PLAIN, GROUPED, UNGROUPED, WINDOWED, DISTINCT, DISTINCT_ON };

	// generator_queries.cpp
	Part Query(const Scope *outer, const std::vector<SqlType> *types, int depth);
	Part SetOperation(const Scope *outer, const std::vector<SqlType> *types, int depth);
	Part RowOrdered(int depth);
	//! A UNION ALL of which a part ends before it has read all of its rows, and another may have too many to be under
	//! way at a time.
	Part UnionThatEndsEarly(const std::vector<SqlType> *types);
	std::string UnionPart(const std::vector<SqlType> &types, bool ends_early, Part &part);
	std::string WideUnionPart(const std::vector<SqlType> &types, Part &part);
	Part Recursive();
	Part WithoutFrom();
	Part Failing();
	std::string With(int depth);
	void OrderAndLimit(Part &part, bool top);
	std::string SomeOrder(const Part &part, bool distinct);
	std::string TotalOrder(const std::vector<Column> &columns);
	std::string Limit(const Part &part);
	std::vector<SqlType> SomeTypes(size_t count);
	SqlType SomeType();

	// generator_select.cpp
	Part Select(const Scope *outer, const std::vector<SqlType> *types, int depth);
	Part Plain(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth);
	Part Grouped(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth);
	Part Ungrouped(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth);
	Part Windowed(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth);
	Part DistinctOn(Scope &scope, const std::string &from, const std::vector<SqlType> *types, int depth);
	std::string Where(const Scope &scope, int depth);
	std::string GroupExpression(const Scope &scope, SqlType &type);
	std::string GroupBy(const std::vector<std::string> &groups, std::vector<TypedText> &items);
	//! `SELECT ` with the items and their names.
	Part Items(const std::vector<TypedText> &items);
	Part Star(Scope &scope, const std::string &from, int depth);
	std::string Having(const Scope &scope);

	// generator_from.cpp
	std::string From(Scope &scope, int depth);
	std::string Join(Scope &scope, const std::string &left, int depth);
	std::string SpecialJoin(Scope &scope, const std::string &left);
	std::string NaturalJoin(Scope &scope);
	std::string Lateral(Scope &scope, const std::string &left, int depth);
	std::string Condition(const Scope &left, const Scope &right, double &rows);
	std::string Source(Relation &relation, const Scope *lateral, int depth);
	std::string TableSource(Relation &relation);
	std::string AwkwardSource(Relation &relation);
	std::string OddSource(Relation &relation);
	//! An awkward table, or an odd one.
	std::string SmallSource(Relation &relation);
	std::string FunctionSource(Relation &relation);
	std::string PivotSource(Relation &relation);
	std::string SubquerySource(Relation &relation, int depth);
	std::string NewAlias();

	// generator_expressions.cpp and generator_functions.cpp
	std::string Expression(SqlType type, const Scope &scope, int depth);
	std::string Boolean(const Scope &scope, int depth);
	std::string Comparison(const Scope &scope, int depth);
	std::string Function(SqlType type, const Scope &scope, int depth);
	std::string IntegerFunction(const Scope &scope, int depth);
	std::string TextFunction(const Scope &scope, int depth);
	std::string NumberFunction(SqlType type, const Scope &scope, int depth);
	std::string TimeFunction(SqlType type, const Scope &scope, int depth);
	std::string NestedFunction(SqlType type, const Scope &scope, int depth);
	std::string Literal(SqlType type);
	std::string LiteralValue(SqlType type);
	std::optional<std::string> ColumnOf(SqlType type, const Scope &scope);
	//! A column of `scope` itself.
	TypedText AnyColumn(const Scope &scope);
	SqlType AnyType(const Scope &scope);
	//! What orders all rows of a FROM, as terms of an ORDER BY.
	std::vector<std::string> RowKey(const Scope &scope);

	// generator_subqueries.cpp
	std::string SubqueryPredicate(const Scope &scope, int depth);
	std::string InSubquery(const Scope &scope, int depth);
	//! IN or NOT IN as a value, of a subquery that refers to nothing around it.
	std::string InSubqueryAsValue(const Scope &scope);
	std::string QuantifiedSubquery(const Scope &scope, int depth);
	std::string ScalarSubquery(SqlType type, const Scope &scope, int depth);
	//! FROM and WHERE of a subquery that may refer to `outer`.
	std::string SubqueryBody(Scope &inner, const Scope &outer, int depth);
	bool MayNest(const Scope &scope, int depth) const;

	// generator_aggregates.cpp
	TypedText Aggregate(const Scope &scope, int depth);
	TypedText AggregateOf(SqlType type, const Scope &scope, int depth);
	TypedText SimpleAggregate(const Scope &scope, int depth);
	//! count() or sum() of the different values of a column.
	TypedText DistinctAggregate(const Scope &scope);
	TypedText OrderedAggregate(const Scope &scope, int depth);
	TypedText HolisticAggregate(const Scope &scope, int depth);
	TypedText StatisticAggregate(const Scope &scope);
	std::string Filter(const Scope &scope, int depth);

	// generator_windows.cpp
	TypedText Window(const Scope &scope, int depth);
	std::string WindowSpecification(const Scope &scope, bool total_order, bool frame);
	std::string Frame(bool total_order);
	std::string Qualify(const Scope &scope);

	void Use(Feature feature) {
		features_.set(static_cast<size_t>(feature));
	}
	std::string NewName();
	//! Nothing, or DESC and where NULLs come.
	std::string Direction();

	const Catalog &catalog_;
	Random random_;
	FeatureSet features_;
	//! Parts of the query that may still be made.
	int budget_;
	bool row_order_ = false;
	bool no_subqueries_ = false;
	bool no_references_ = false;
	size_t next_name_ = 0;
	size_t next_alias_ = 0;
	std::vector<Relation> ctes_;
	std::vector<std::string> ctes_read_;
};

} // namespace skein::fuzz
