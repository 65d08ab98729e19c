#pragma once

#include "fuzz/sql_type.hpp"

#include <string>
#include <vector>

namespace skein::fuzz {

enum class TableKind { AWKWARD, TPCH, ODD, HIVE, NATIVE, TEMPORARY };

//! A table that queries may read.
struct Table {
	std::string name;
	TableKind kind;
	std::vector<Column> columns;
	//! Columns whose values together are never the same twice.
	std::vector<std::string> key;
	double rows;
};

//! Two columns of TPC-H that are compared in joins.
struct ForeignKey {
	const char *table;
	const char *column;
	const char *other_table;
	const char *other_column;
};

//! The tables that generated queries read. The same ones in every process: nothing in here depends on data.
//!
//! The awkward tables all have the same columns, so that one can stand for another where a query is shrunk. The odd
//! ones have a few of them, and of types that Parquet does not know or other clients seldom use.
class Catalog {
public:
	Catalog();

	const std::vector<Table> &Tables() const {
		return tables_;
	}
	//! nullptr when there is none.
	const Table *Find(const std::string &name) const;
	const std::vector<ForeignKey> &ForeignKeys() const;

private:
	void AddAwkward(const std::string &name, TableKind kind, double rows);

	std::vector<Table> tables_;
};

//! Makes the Parquet files of all tables below `folder`, unless they are there; `tpch_extension` is the file with
//! TPC-H's generator. Throws when that is not possible.
void MakeTableFiles(const std::string &folder, const std::string &tpch_extension);

//! Statements that make the tables of the catalog on a connection, over the files in `folder`.
std::vector<std::string> TableStatements(const std::string &folder);

} // namespace skein::fuzz
