#pragma once

#include "engine/database_files.hpp"

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! A row group of a table that a scan has to read.
struct NativeRowGroup {
	//! Position in the table.
	duckdb::idx_t index;
	//! Without deleted ones.
	duckdb::idx_t rows;
	//! As the columns that are read lie in memory; an estimate.
	duckdb::idx_t bytes;
};

//! A table of a database file, as planning found it.
struct NativeTable {
	//! The database file, by which any process of the machine opens it.
	std::string path;
	DatabaseVersion version;
	//! As the session names it; for EXPLAIN.
	std::string database;
	std::string schema;
	std::string table;
	//! Of all of the table, deleted ones too.
	duckdb::idx_t table_rows = 0;
};

//! What a scan of a table reads.
struct NativeScan : NativeTable {
	//! Without those that the filters rule out, in the table's order.
	duckdb::vector<NativeRowGroup> row_groups;
};

//! Describes a scan of a table of a database file that others can open, too: one that is attached read only. nullopt
//! and a `reason` if `get` scans another table; the reason is empty if it scans no table at all.
std::optional<NativeScan> InspectNativeScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											std::string &reason);

//! The filters of `get` as a scan applies them: by the position of the column among those that it reads.
duckdb::unique_ptr<duckdb::TableFilterSet> FiltersByPosition(const duckdb::LogicalGet &get);

} // namespace skein
