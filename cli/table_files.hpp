#pragma once

#include <string>
#include <vector>

namespace skein::cli {

//! Whether `folder` holds Parquet files.
bool HasTableFiles(const std::string &folder);

//! The names of the folders in `data` that hold Parquet files, sorted. Throws CommandError when there is none.
std::vector<std::string> FindTables(const std::string &data);

} // namespace skein::cli
