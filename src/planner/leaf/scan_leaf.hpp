#pragma once

#include "planner/leaf/unit_dealing.hpp"

#include <memory>
#include <string>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

class FooterCache;

//! What planning knows about one scan that can be divided exactly: its units, and how a task reads some of them.
//!
//! Immutable once it is made. Invariant: the rows of all units are the rows of the scan, in DuckDB's order.
class ScanLeaf {
public:
	virtual ~ScanLeaf() = default;

	//! A scan with the table index, columns, projections, filters and bindings of `get`, which was analyzed, that reads
	//! exactly `units`, in their order; none at all are allowed. It travels in a serialised plan.
	virtual duckdb::unique_ptr<duckdb::LogicalGet> MakeVariant(duckdb::ClientContext &context,
															   const duckdb::LogicalGet &get,
															   const duckdb::vector<ScanUnit> &units) const = 0;
	//! `units` for EXPLAIN: `READ_PARQUET files=[lineitem/1.parquet row_groups=0..3, ...]`; at most `max_files` files.
	virtual std::string Describe(const duckdb::vector<ScanUnit> &units, size_t max_files) const = 0;
	//! The path by which any process opens a file, by the number that units have.
	virtual const std::string &OpenPath(size_t file) const = 0;
	//! The path by which the query sees a file, with its hive partitions; nullptr if a leaf does not keep it.
	virtual const std::string *QueryPath(size_t file) const {
		return nullptr;
	}
	//! Why the first file that is large enough to be divided and is not stays whole; empty if there is none.
	virtual std::string WhyWhole() const {
		return std::string();
	}
	//! Whether the rows of units are known before they are read.
	virtual bool KnowsRows() const = 0;

	//! In the order of the source; those that the scan's filters rule out are left out.
	duckdb::vector<ScanUnit> units;
	//! Of all units.
	duckdb::idx_t total_rows = 0;
	duckdb::idx_t total_bytes = 0;
};

//! What `get` reads, as units that can be dealt to tasks; nullptr and a `reason` if it is no scan of files, cannot be
//! split exactly, or if a file cannot be read. `footers` keeps what is read of files, unless it is nullptr.
std::shared_ptr<const ScanLeaf> AnalyzeScan(duckdb::ClientContext &context, duckdb::LogicalGet &get,
											std::string &reason, FooterCache *footers = nullptr);

//! The rows that DuckDB expects to leave `get`, for the part of it that has `weight` of its `total_weight`.
duckdb::idx_t ShareOfEstimate(const duckdb::LogicalGet &get, duckdb::idx_t weight, duckdb::idx_t total_weight);

//! The last folder and the name of a file, as EXPLAIN shows it.
std::string ShortPath(const std::string &path);

} // namespace skein
