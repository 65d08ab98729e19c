#pragma once

#include <cstdint>
#include <optional>

namespace skein {

//! What an operator of a plan has done, as DuckDB's profiler counted it.
struct OperatorMetrics {
	//! That it returned; of a sink: that it took.
	uint64_t rows = 0;
	//! In it, without its inputs, on all threads together, microseconds.
	uint64_t micros = 0;
	//! Of a scan that counts them: the rows that it read, also those that its filters left out.
	std::optional<uint64_t> rows_read;

	bool operator==(const OperatorMetrics &) const = default;
	void Add(const OperatorMetrics &other) {
		rows += other.rows;
		micros += other.micros;
		if (other.rows_read) {
			rows_read = rows_read.value_or(0) + *other.rows_read;
		}
	}
};

} // namespace skein
