#pragma once

#include "duckdb.hpp"

#include <atomic>
#include <cstdint>

namespace skein {

//! Counts what the files of a connection are asked for, in bytes, whoever asks: DuckDB's own count, of its profiler,
//! leaves out what Parquet scans read ahead. Bytes that DuckDB's cache of file contents has are not read again.
//!
//! Thread-safe. Shared by the connection, its open files and who asks.
class ReadBytes {
public:
	void Add(uint64_t bytes) {
		bytes_ += bytes;
	}
	uint64_t Get() const {
		return bytes_;
	}

private:
	std::atomic<uint64_t> bytes_{0};
};

//! Makes every file that `context` opens from now on count. The files must be closed before the connection is.
duckdb::shared_ptr<ReadBytes> CountReadBytes(duckdb::ClientContext &context);

} // namespace skein
