#pragma once

#include "duckdb.hpp"

namespace skein {

//! Consecutive row groups of a file or of a table.
struct RowGroupRange {
	duckdb::idx_t begin;
	//! The first row group after the range.
	duckdb::idx_t end;
};

} // namespace skein
