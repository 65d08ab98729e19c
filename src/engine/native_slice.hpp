#pragma once

#include "engine/native_scan.hpp"
#include "engine/row_group_range.hpp"

namespace skein {

//! The part of a table that a slice reads.
struct NativeSlice : NativeTable {
	//! Disjoint, in order, none empty.
	duckdb::vector<RowGroupRange> ranges;
	//! Sum over `ranges`, without deleted ones.
	duckdb::idx_t rows = 0;
};

//! Makes plans with slices of tables readable and executable on `db`. Idempotent; thread-safe.
void RegisterNativeSlice(duckdb::DatabaseInstance &db);

//! A scan like `get` that reads only the row groups of `slice`, in their order; none at all are allowed.
//!
//! Same table index, column ids, projections, filters and bindings as `get`, which InspectNativeScan accepted. Whoever
//! executes it opens the database file read only. A file that is missing or another one is a duckdb::IOException that
//! names it.
duckdb::unique_ptr<duckdb::LogicalGet> MakeNativeSlice(duckdb::ClientContext &context, const duckdb::LogicalGet &get,
													   NativeSlice slice);

//! The part that a scan reads; nullptr if it is no scan of a slice of a table.
duckdb::optional_ptr<const NativeSlice> NativeSliceOf(const duckdb::LogicalGet &get);

} // namespace skein
