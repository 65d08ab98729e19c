#pragma once

#include "interrupt.hpp"

#include <string>
#include <vector>

namespace skein::cli {

struct TpcTable {
	const char *name;
	//! How many files it is written to.
	size_t files;
};

//! What TPC-H and TPC-DS have in common.
struct TpcKind {
	//! `tpch` or `tpcds`: the suite, the extension, and the prefix of its table functions.
	const char *name;
	const char *title;
	//! The table function that makes the data.
	const char *generator;
	//! Whether the generator can make the data in parts.
	bool has_steps;
	std::vector<TpcTable> tables;
};

const TpcKind &FindTpcKind(const std::string &name);

//! `data/tpch-sf1`.
std::string DefaultDataFolder(const TpcKind &kind, double scale);

//! Whether `folder` holds the data of this kind and scale; false when there is no folder or an empty one.
//! Throws CommandError (wrong usage) when it holds anything else.
bool HasTpcData(const TpcKind &kind, double scale, const std::string &folder);

//! Makes TPC's data: a folder of Parquet files for each table.
class TpcGenerator {
public:
	//! `extension` is the file that holds the generator.
	TpcGenerator(const TpcKind &kind, double scale, const std::string &extension, Interrupt &interrupt);

	//! Makes `folder`, with everything in it or not at all. Throws when that is not possible, or on Ctrl-C.
	void Generate(const std::string &folder);

private:
	void Fill(duckdb::Connection &connection);
	void Export(duckdb::Connection &connection, const TpcTable &table, const std::string &folder);
	void Describe(const std::string &folder);

	const TpcKind &kind_;
	double scale_;
	std::string extension_;
	Interrupt &interrupt_;
};

} // namespace skein::cli
