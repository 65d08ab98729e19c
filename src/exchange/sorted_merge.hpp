#pragma once

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/function/create_sort_key.hpp"
#include "exchange/exchange_input.hpp"
#include "wire/page_codec.hpp"

#include <optional>

namespace skein {

//! A column of the merged rows by which they are sorted.
struct SortColumn {
	duckdb::idx_t column;
	duckdb::OrderModifiers modifiers;
};

//! Merges the sorted rows of all producers of an input, as they stream, into one sorted sequence.
//!
//! A k-way merge by a binary heap over DuckDB's own normalised sort keys (Knuth, The Art of Computer Programming 3,
//! 5.4.1), so that the order is exactly that of DuckDB's sort. Equal keys: the lower producer first.
//! Owned and used by one thread. Holds one page per producer.
class SortedMerge {
public:
	SortedMerge(duckdb::ClientContext &context, std::shared_ptr<ExchangeInput> input,
				duckdb::vector<duckdb::LogicalType> types, duckdb::vector<SortColumn> sort_columns);

	//! Fills `chunk` with the next rows; empty at the end. False: a producer's next row has not arrived, nothing was
	//! returned; call again once AwaitedProducer() is ready.
	bool Next(duckdb::DataChunk &chunk);
	size_t AwaitedProducer() const {
		return awaited_;
	}

private:
	//! The rows of one producer that have arrived and are not merged yet.
	struct Run {
		std::optional<PageReader> reader;
		duckdb::DataChunk rows;
		duckdb::DataChunk sort_values;
		duckdb::unique_ptr<duckdb::Vector> keys;
		duckdb::idx_t position = 0;
		duckdb::idx_t count = 0;
		bool at_end = false;

		const duckdb::string_t &Key() const {
			return duckdb::FlatVector::GetData<duckdb::string_t>(*keys)[position];
		}
	};

	//! Makes the run's next row available, or finds its end. False: it has not arrived.
	bool Fill(size_t producer);
	void LoadKeys(Run &run);
	//! Whether the current row of `left` comes before that of `right`.
	bool Before(size_t left, size_t right) const;

	duckdb::ClientContext &context_;
	const std::shared_ptr<ExchangeInput> input_;
	const duckdb::vector<duckdb::LogicalType> types_;
	const duckdb::vector<SortColumn> sort_columns_;
	std::vector<Run> runs_;
	//! Producers with a current row, smallest on top.
	std::vector<size_t> heap_;
	//! Producers whose current row has to be found before the merge can go on.
	std::vector<size_t> to_fill_;
	size_t awaited_ = 0;
};

} // namespace skein
