#pragma once

#include "engine/byte_range.hpp"

namespace duckdb {
class FileHandle;
} // namespace duckdb

namespace skein {

//! What stands for the lines that begin before those of a range.
enum class BeforeLines : uint8_t {
	//! As many spaces, so that the bytes of the file's range keep their distance from its begin.
	SPACES,
	//! Nothing.
	NOTHING
};

//! A file of those lines of `file` that belong to `range`: the ones that begin behind `range.begin` and not behind
//! `range.end`, and the file's first one if the range begins there. Lines without bytes, and those that begin like a
//! mark of the byte order, belong to the range of the line before them. The ranges of a file have all its lines, each
//! once.
//!
//! A line ends with \n, or with the file. A line that begins in the range and ends more than `longest_line` behind it
//! is cut off there: its reader has refused it before. Reads, beyond the bytes of its lines, those up to the first line
//! and less than LINE_READ_AHEAD or the length of the line behind the last. May be read by several threads at once, if
//! `file` may be. `file` can seek.
duckdb::unique_ptr<duckdb::FileHandle> OpenLineRange(duckdb::unique_ptr<duckdb::FileHandle> file, ByteRange range,
													 duckdb::idx_t longest_line, BeforeLines before);

//! What is read at least to find the end of a line.
constexpr duckdb::idx_t LINE_READ_AHEAD = 4 << 10;

} // namespace skein
