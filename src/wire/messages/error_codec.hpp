#pragma once

#include "duckdb/common/error_data.hpp"
#include "skein.pb.h"

namespace skein {

//! The only bridge for errors over the wire: keeps DuckDB's class, message and extra fields.
void EncodeError(const duckdb::ErrorData &error, bool consequence, wire::Error &target);
duckdb::ErrorData DecodeError(const wire::Error &source);

//! The same error with `where` appended to its message, as in `Conversion Error: ... (worker w, stage 1, task 0)`.
duckdb::ErrorData WithPlace(const duckdb::ErrorData &error, const std::string &where);

//! What a reader or a coordinator says of a worker whose link has gone. `reason` may be empty; `had_answered`:
//! something had come from it before.
duckdb::ErrorData LostWorkerError(const std::string &address, const std::string &reason, bool had_answered);
//! The address in such an error, also after it has travelled; empty for any other error.
std::string LostWorkerOf(const duckdb::ErrorData &error);

} // namespace skein
