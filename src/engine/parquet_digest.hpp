#pragma once

#include "engine/parquet_footer.hpp"

// DuckDB's Parquet headers can only be used from inside its namespace.
namespace duckdb {
namespace skein_parquet {

//! The columns of a Parquet file. Shared by all files whose columns are the same.
struct ParquetFileSchema {
	vector<MultiFileColumnDefinition> columns;
	//! Its children are the columns, in the same order.
	ParquetColumnSchema root;
};

//! What planning needs of a footer's column chunk beside its size: its statistics.
struct ChunkDigest {
	int64_t values = 0;
	std::optional<int64_t> nulls;
	//! The footer has statistics, whatever they say.
	bool has_statistics = false;
	std::optional<string> min;
	std::optional<string> max;
	//! The footer calls them by their old names, `min` and `max`.
	bool old_names = false;
};

//! What planning needs of a Parquet file's footer, in a fraction of its memory. Immutable.
struct ParquetDigest {
	std::shared_ptr<const ParquetFileSchema> schema;
	skein::ParquetFileVersion version;
	//! What the file system says of the file beside time and size, as the list of a folder has it, too.
	string list_tag;
	//! Before the footer was read.
	timestamp_t opened_at{0};

	idx_t RowGroupCount() const {
		return rows_and_bytes.size() / (chunk_count + 1);
	}
	idx_t Rows(idx_t row_group) const {
		return rows_and_bytes[row_group * (chunk_count + 1)];
	}
	//! Compressed bytes of a column chunk, by its number in the row group.
	idx_t Bytes(idx_t row_group, idx_t chunk) const {
		return rows_and_bytes[row_group * (chunk_count + 1) + 1 + chunk];
	}
	const ChunkDigest &Chunk(idx_t row_group, idx_t chunk) const {
		return chunks[row_group * chunk_count + chunk];
	}
	//! Bytes of memory, without the schema.
	idx_t Memory() const;

	//! Of a row group.
	idx_t chunk_count = 0;
	//! What every query asks for lies together: of each row group its rows and the bytes of its chunks.
	vector<idx_t> rows_and_bytes;
	//! Of all row groups.
	vector<ChunkDigest> chunks;
};

//! The digest of the footer that `reader` has read, which was made after `opened_at`.
ParquetDigest DigestOf(ParquetReader &reader, timestamp_t opened_at);
//! Two schemas with the same text are the same.
string TextOf(const ParquetFileSchema &schema);

//! The statistics of one column of a row group as the footer has them, for DuckDB; nullptr if it has none.
unique_ptr<BaseStatistics> StatisticsOf(const ParquetDigest &digest, idx_t row_group, const ParquetColumnSchema &column,
										const ParquetOptions &options);

} // namespace skein_parquet
} // namespace duckdb
