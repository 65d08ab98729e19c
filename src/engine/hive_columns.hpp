#pragma once

#include "duckdb.hpp"

#include <string>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! A column of a scan of files whose value is a part of each file's path, as `2024` is in `year=2024/1.parquet`.
struct HiveColumn {
	//! Its name in the path.
	std::string key;
	//! As the scan's expressions name it.
	duckdb::ColumnBinding binding;
	duckdb::LogicalType type;
};

//! Those of the columns that `get` returns; none if it is no scan of files, or is not hive partitioned.
duckdb::vector<HiveColumn> HiveColumnsOf(duckdb::LogicalGet &get);

//! The value of `column` in a file, as the scan returns it; `path` is the file's as the query sees it.
duckdb::Value HiveValueOf(duckdb::ClientContext &context, const HiveColumn &column, const std::string &path);

} // namespace skein
