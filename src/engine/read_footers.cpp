#include "engine/read_footers.hpp"

#include "engine/scan_file.hpp"

#include "duckdb/storage/object_cache.hpp"

namespace duckdb {
namespace skein_parquet {

shared_ptr<ReadFooter> ReadFooter::Find(ClientContext &context, const string &path) {
	return ObjectCache::GetObjectCache(context).GetWithTypePrefix<ReadFooter>(path);
}

void ReadFooter::Keep(ClientContext &context, const string &path, ParquetReader &reader, timestamp_t opened_at) {
	auto &handle = reader.GetHandle();
	auto last_modified = handle.GetLastModifiedTime();
	if (skein::WasWrittenLately(last_modified, opened_at)) {
		return;
	}
	ObjectCache::GetObjectCache(context).PutWithTypePrefix<ReadFooter>(
		path,
		make_shared_ptr<ReadFooter>(reader.metadata, handle.GetFileSize(), last_modified, handle.GetVersionTag()));
}

bool ReadFooter::IsOf(ParquetReader &reader) const {
	auto &handle = reader.GetHandle();
	return handle.GetFileSize() == size_ && handle.GetLastModifiedTime() == last_modified_ &&
		   handle.GetVersionTag() == tag_;
}

} // namespace skein_parquet
} // namespace duckdb
