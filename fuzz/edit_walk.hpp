#pragma once

#include "duckdb.hpp"

#include "duckdb/parser/query_node/select_node.hpp"

namespace skein::fuzz {

//! Walks over a parsed query and makes one of the edits that may shorten it: the one with a given number.
//!
//! Edits keep answers determined: an ORDER BY never goes without the LIMIT that needs it, the sort keys and the values
//! of an ordered aggregate stay as they are.
class EditWalk {
public:
	explicit EditWalk(size_t number) : number_(number) {
	}

	//! Returns false when there are not so many edits.
	bool Apply(duckdb::unique_ptr<duckdb::QueryNode> &node);
	//! Whether the edit put one table in the place of another.
	bool IsSwap() const {
		return is_swap_;
	}

private:
	using Expressions = duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>>;

	//! Whether the edit that is offered is the one to be made.
	bool IsNext() {
		return !done_ && next_++ == number_ && (done_ = true);
	}
	void Node(duckdb::unique_ptr<duckdb::QueryNode> &node);
	void Modifiers(duckdb::QueryNode &node);
	void Ctes(duckdb::QueryNode &node);
	void Select(duckdb::SelectNode &node);
	void Groups(duckdb::SelectNode &node);
	void From(duckdb::unique_ptr<duckdb::TableRef> &table);
	void Table(duckdb::TableRef &table);
	void Elements(Expressions &expressions, size_t least);
	void Optional(duckdb::unique_ptr<duckdb::ParsedExpression> &expression);
	void Expression(duckdb::unique_ptr<duckdb::ParsedExpression> &expression, bool may_be_constant);
	void Replace(duckdb::unique_ptr<duckdb::ParsedExpression> &expression, bool may_be_constant);
	void Function(duckdb::ParsedExpression &expression);

	const size_t number_;
	size_t next_ = 0;
	bool done_ = false;
	bool is_swap_ = false;
};

} // namespace skein::fuzz
