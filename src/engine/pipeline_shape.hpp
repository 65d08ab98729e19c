#pragma once

#include "duckdb/parallel/pipeline.hpp"

namespace skein {

//! Whether nothing of what the pipeline reads shows, to the client or in a later pipeline, before it has read all: so
//! nobody loses time if its first rows come late.
bool TakesAllRowsFirst(duckdb::Pipeline &pipeline);

} // namespace skein
