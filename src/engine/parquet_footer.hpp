#pragma once

#include "parquet_multi_file_info.hpp"

#include "engine/parquet_scan.hpp"

// DuckDB's Parquet headers can only be used from inside its namespace.
namespace duckdb {
namespace skein_parquet {

//! The options with which a call of `parquet_scan` was bound. They are private to it, so its serialisation is run.
ParquetOptionsSerialization OptionsOf(ClientContext &context, const TableFunction &parquet_scan,
									  const MultiFileBindData &bind_data);

//! Identifies the file that `reader` has open. Costs no reads beyond the footer, which the reader holds.
skein::ParquetFileVersion VersionOf(ParquetReader &reader);

//! Position of the column `global` among the columns of a file; invalid if the file lacks it.
optional_idx FindColumn(const vector<MultiFileColumnDefinition> &columns, const MultiFileColumnDefinition &global,
						MultiFileColumnMappingMode mapping);

//! The columns of `bind_data` as its files are matched against them.
const vector<MultiFileColumnDefinition> &GlobalColumns(const MultiFileBindData &bind_data);

//! Whether `column` of the scan is a column of the files, rather than virtual or made from the path.
bool IsFileColumn(const MultiFileBindData &bind_data, column_t column);

} // namespace skein_parquet
} // namespace duckdb
