#pragma once

#include "duckdb.hpp"

#include <map>
#include <memory>
#include <ostream>
#include <string>

namespace skein::cli {

enum class ResultFormat { TABLE, CSV, TSV, JSON, NDJSON, MARKDOWN, NONE };

//! The formats by the names that users give them.
const std::map<std::string, ResultFormat> &ResultFormats();

//! The columns of a result.
struct ResultHeader {
	duckdb::vector<std::string> names;
	duckdb::vector<duckdb::LogicalType> types;
};

//! Writes one result as text, chunk by chunk as it comes; only TABLE keeps the rows until the end (they may spill).
//!
//! The context turns values into text as the session would, in its time zone. It and `out` outlive the writer.
class ResultWriter {
public:
	virtual ~ResultWriter() = default;
	virtual void Write(duckdb::DataChunk &chunk) = 0;
	//! Ends the result; no call follows.
	virtual void Finish() = 0;
};

//! How wide and long a table may become: what fits a terminal, or all of it.
enum class TableSize { TERMINAL, COMPLETE };

std::unique_ptr<ResultWriter> MakeResultWriter(ResultFormat format, duckdb::ClientContext &context, ResultHeader header,
											   TableSize table_size, std::ostream &out);

//! The next rows of a result, nullptr at its end. Throws if the query failed: for DuckDB's own Fetch() that is an end,
//! too.
duckdb::unique_ptr<duckdb::DataChunk> FetchNext(duckdb::QueryResult &result);

//! Writes the result of an EXPLAIN: the plan is text of many lines, which is written as it is.
void WritePlan(duckdb::QueryResult &result, std::ostream &out);

} // namespace skein::cli
