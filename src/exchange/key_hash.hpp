#pragma once

#include "duckdb/common/types/data_chunk.hpp"

namespace skein {

//! The hashes of the rows of `keys`, all columns combined, as a flat vector. DuckDB's own hash: equal for what it
//! compares as equal. It says where a row of a shuffle goes, and whether a runtime filter lets it pass.
void HashKeys(duckdb::DataChunk &keys, duckdb::Vector &hashes);

} // namespace skein
