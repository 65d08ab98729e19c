#pragma once

#include "duckdb/function/table_function.hpp"

namespace skein {

//! The columns and rows of a table function whose rows are all made when it is called.
struct ReportRows final : public duckdb::GlobalTableFunctionState {
	duckdb::vector<duckdb::vector<duckdb::Value>> rows;
	duckdb::idx_t next = 0;
};

//! The function of such a table function.
void ReturnRows(duckdb::ClientContext &context, duckdb::TableFunctionInput &input, duckdb::DataChunk &output);

//! An unsigned count as SQL shows it: BIGINT.
inline duckdb::Value Number(uint64_t number) {
	return duckdb::Value::BIGINT(static_cast<int64_t>(number));
}

//! NULL instead of an empty text.
inline duckdb::Value TextOrNull(const std::string &text) {
	return text.empty() ? duckdb::Value(duckdb::LogicalType::VARCHAR) : duckdb::Value(text);
}

} // namespace skein
