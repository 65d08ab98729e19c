#pragma once

#include "engine/parquet_slice.hpp"

#include "parquet_reader.hpp"

// DuckDB's Parquet headers can only be used from inside its namespace.
namespace duckdb {
namespace skein_parquet {

//! A footer that a task of this instance has read, for the next task that reads the file. Kept in DuckDB's object
//! cache, which counts it as memory and drops what has not been used for long.
class ReadFooter final : public ObjectCacheEntry {
public:
	//! What is kept of the file at `path`; nullptr if nothing is.
	static shared_ptr<ReadFooter> Find(ClientContext &context, const string &path);
	//! Keeps what `reader` has read since `opened_at`, unless the file had been written so lately that another write
	//! could leave its time as it is.
	static void Keep(ClientContext &context, const string &path, ParquetReader &reader, timestamp_t opened_at);

	//! Whether it is of the file that `reader` has open.
	bool IsOf(ParquetReader &reader) const;
	const shared_ptr<ParquetFileMetadataCache> &Metadata() const {
		return metadata_;
	}

	static string ObjectType() {
		return "skein_read_footer";
	}
	string GetObjectType() override {
		return ObjectType();
	}
	optional_idx GetEstimatedCacheMemory() const override {
		return metadata_->GetEstimatedCacheMemory();
	}

	ReadFooter(shared_ptr<ParquetFileMetadataCache> metadata, idx_t size, timestamp_t last_modified, string tag)
		: metadata_(std::move(metadata)), size_(size), last_modified_(last_modified), tag_(std::move(tag)) {
	}

private:
	const shared_ptr<ParquetFileMetadataCache> metadata_;
	const idx_t size_;
	const timestamp_t last_modified_;
	//! Of the file system; of a local file it names the inode.
	const string tag_;
};

} // namespace skein_parquet
} // namespace duckdb
