#include "engine/read_footers.hpp"

#include "engine/scan_file.hpp"

#include "duckdb/storage/object_cache.hpp"

#include "parquet_geometry.hpp"

namespace duckdb {
namespace skein_parquet {

namespace {

//! With a footer goes what the reader has made of it, which columns hold geometries, by the query's setting.
string KeyOf(ClientContext &context, const string &path) {
	auto geometries = GeoParquetFileMetadata::IsGeoParquetConversionEnabled(context);
	return (geometries ? "with geometries: " : "as it is: ") + path;
}

} // namespace

shared_ptr<ReadFooter> ReadFooter::Find(ClientContext &context, const string &path) {
	return ObjectCache::GetObjectCache(context).GetWithTypePrefix<ReadFooter>(KeyOf(context, path));
}

void ReadFooter::Keep(ClientContext &context, const string &path, ParquetReader &reader, timestamp_t opened_at) {
	auto &handle = reader.GetHandle();
	auto last_modified = handle.GetLastModifiedTime();
	if (skein::WasWrittenLately(last_modified, opened_at)) {
		return;
	}
	ObjectCache::GetObjectCache(context).PutWithTypePrefix<ReadFooter>(
		KeyOf(context, path),
		make_shared_ptr<ReadFooter>(reader.metadata, handle.GetFileSize(), last_modified, handle.GetVersionTag()));
}

bool ReadFooter::IsOf(ParquetReader &reader) const {
	auto &handle = reader.GetHandle();
	return handle.GetFileSize() == size_ && handle.GetLastModifiedTime() == last_modified_ &&
		   handle.GetVersionTag() == tag_;
}

} // namespace skein_parquet
} // namespace duckdb
