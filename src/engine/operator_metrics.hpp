#pragma once

#include <cstdint>
#include <optional>

namespace skein {

//! What an operator of a plan has done, as DuckDB's profiler counted it.
struct OperatorMetrics {
	using Optional = std::optional<uint64_t>;

	//! That it returned; of a sink: that it took.
	uint64_t rows = 0;
	//! In it, without its inputs, on all threads together, microseconds.
	uint64_t micros = 0;
	//! Of a scan that counts them: the rows that it read, also those that its filters left out.
	Optional rows_read = std::nullopt;
	//! Of the same: row groups of which it read rows, and those that its filters ruled out before.
	Optional row_groups_read = std::nullopt;
	Optional row_groups_skipped = std::nullopt;
	//! Of what takes rows from other tasks or gives rows to them: how long its threads had no rows, or no room,
	//! microseconds, all of them together.
	Optional blocked_micros = std::nullopt;
	//! Of a scan whose units tasks share: the units that it read, those of other tasks included.
	Optional units = std::nullopt;

	bool operator==(const OperatorMetrics &) const = default;
	void Add(const OperatorMetrics &other) {
		rows += other.rows;
		micros += other.micros;
		AddTo(rows_read, other.rows_read);
		AddTo(row_groups_read, other.row_groups_read);
		AddTo(row_groups_skipped, other.row_groups_skipped);
		AddTo(blocked_micros, other.blocked_micros);
		AddTo(units, other.units);
	}

private:
	static void AddTo(Optional &sum, const Optional &value) {
		if (value) {
			sum = sum.value_or(0) + *value;
		}
	}
};

} // namespace skein
