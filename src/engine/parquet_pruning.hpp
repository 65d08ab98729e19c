#pragma once

#include "engine/parquet_digest.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace duckdb {
namespace skein_parquet {

//! Tells which files and row groups of a scan cannot hold a row that passes the scan's filters.
//!
//! Never excludes what DuckDB's own reader would keep. Reads nothing: no bloom filters. Thread-safe after construction;
//! must not outlive the scan.
class ScanPruner {
public:
	ScanPruner(ClientContext &context, const LogicalGet &get, const MultiFileBindData &bind_data,
			   const ParquetOptionsSerialization &options);

	//! By what the path and the position say: hive partitions, `filename`, `file_index`.
	bool ExcludesFile(const string &path, idx_t file_index) const;
	//! By the statistics in a file's footer.
	bool ExcludesRowGroup(const ParquetDigest &file, idx_t row_group) const;

private:
	struct FilteredColumn {
		column_t column;
		const TableFilter &filter;
	};

	bool ExcludesConstant(const TableFilter &filter, const Value &value) const;
	optional_ptr<const ParquetColumnSchema> SchemaOf(const ParquetFileSchema &file, column_t column) const;

	ClientContext &context_;
	const MultiFileBindData &bind_data_;
	const ParquetOptionsSerialization &options_;
	//! Filters on what is one value for a whole file.
	vector<FilteredColumn> file_filters_;
	//! Filters on columns of the files and on `file_row_number`.
	vector<FilteredColumn> row_filters_;
	ParquetColumnSchema row_number_schema_;
};

} // namespace skein_parquet
} // namespace duckdb
