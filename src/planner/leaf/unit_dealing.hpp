#pragma once

#include "duckdb.hpp"

namespace skein {

//! One piece of a leaf that is read by one task as a whole: a row group of one file, a range of its bytes.
struct ScanUnit {
	//! Position in the leaf's list of files.
	size_t file;
	//! Position in the file: of a row group, or of a range.
	size_t row_group;
	duckdb::idx_t rows;
	//! Compressed bytes of the columns that the scan projects.
	duckdb::idx_t bytes;
};

//! Deals `units`, in file and row-group order, to at most `tasks` tasks; at least one, and no empty one unless there
//! are no units at all (then one empty task).
//!
//! Every task gets neighbours, and the tasks one after the other give `units` again. The bytes of any two tasks differ
//! by at most the largest unit wherever contiguous ranges allow it; a task's end is never further than half a unit from
//! its even share.
duckdb::vector<duckdb::vector<ScanUnit>> DealUnits(const duckdb::vector<ScanUnit> &units, size_t tasks);

} // namespace skein
