#pragma once

#include "duckdb.hpp"

namespace skein {

//! Bytes of a file from `begin` to before `end`.
struct ByteRange {
	duckdb::idx_t begin = 0;
	duckdb::idx_t end = duckdb::NumericLimits<duckdb::idx_t>::Maximum();

	//! Whether it is every byte of any file.
	bool IsWholeFile() const {
		return begin == 0 && end == duckdb::NumericLimits<duckdb::idx_t>::Maximum();
	}
};

} // namespace skein
