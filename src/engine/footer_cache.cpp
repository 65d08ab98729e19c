#include "engine/footer_cache.hpp"

#include "engine/parquet_digest.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Whether two tags are the same but for the quotes that some stores put around them.
bool AreSameTags(const string &left, const string &right) {
	return left == right || StringUtil::Replace(left, "\"", "") == StringUtil::Replace(right, "\"", "");
}

//! Whether the file may be written again without a trace. A store's tag changes with every write.
bool MayChangeUnseen(const skein_parquet::ParquetDigest &digest) {
	return digest.version.tag.empty() && WasWrittenLately(digest.version.last_modified, digest.opened_at);
}

} // namespace

bool FooterCache::Holds(const string &key) {
	std::lock_guard<std::mutex> guard(mutex_);
	return by_key_.count(key) > 0;
}

FooterCache::Digest FooterCache::Find(const string &key, const FileVersion &version) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto entry = by_key_.find(key);
	if (entry == by_key_.end()) {
		return nullptr;
	}
	auto &digest = *entry->second->digest;
	auto same = digest.version.size == version.size && digest.version.last_modified == version.last_modified &&
				(version.tag.empty() || digest.list_tag.empty() || AreSameTags(version.tag, digest.list_tag));
	if (!same) {
		return nullptr;
	}
	entries_.splice(entries_.begin(), entries_, entry->second);
	numbers_.found++;
	return entry->second->digest;
}

FooterCache::Digest FooterCache::Add(const string &key, skein_parquet::ParquetDigest digest) {
	auto text = TextOf(*digest.schema);
	std::lock_guard<std::mutex> guard(mutex_);
	auto &shared = schemas_[std::move(text)];
	if (auto schema = shared.lock()) {
		digest.schema = std::move(schema);
	} else {
		shared = digest.schema;
	}
	auto is_kept = !MayChangeUnseen(digest);
	auto result = std::make_shared<const skein_parquet::ParquetDigest>(std::move(digest));
	auto old = by_key_.find(key);
	if (old != by_key_.end()) {
		numbers_.bytes -= old->second->bytes;
		entries_.erase(old->second);
		by_key_.erase(old);
	}
	if (!is_kept) {
		return result;
	}
	// The key is held twice.
	entries_.push_front({key, result, result->Memory() + 2 * key.size() + sizeof(Entry)});
	by_key_[key] = entries_.begin();
	numbers_.bytes += entries_.front().bytes;
	numbers_.added++;
	TrimLocked();
	return result;
}

void FooterCache::TrimLocked() {
	while (numbers_.bytes > max_bytes_) {
		numbers_.bytes -= entries_.back().bytes;
		by_key_.erase(entries_.back().key);
		entries_.pop_back();
	}
	if (schemas_.size() > 2 * schemas_after_clean_up_ + 16) {
		std::erase_if(schemas_, [](auto &entry) { return entry.second.expired(); });
		schemas_after_clean_up_ = schemas_.size();
	}
}

FooterCache::Numbers FooterCache::Read() {
	std::lock_guard<std::mutex> guard(mutex_);
	auto result = numbers_;
	result.entries = entries_.size();
	return result;
}

} // namespace skein
