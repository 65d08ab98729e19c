#include "engine/footer_cache.hpp"

#include "engine/parquet_digest.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! When it is full, the part of a cache that is made free at once.
constexpr idx_t SPARE = 16;

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
	std::shared_lock<std::shared_mutex> guard(mutex_);
	return entries_.count(key) > 0;
}

FooterCache::Digest FooterCache::Find(const string &key, const FileVersion &version) {
	std::shared_lock<std::shared_mutex> guard(mutex_);
	auto found = entries_.find(key);
	if (found == entries_.end()) {
		return nullptr;
	}
	auto &entry = found->second;
	auto &digest = *entry.digest;
	auto same = digest.version.size == version.size && digest.version.last_modified == version.last_modified &&
				(version.tag.empty() || digest.list_tag.empty() || AreSameTags(version.tag, digest.list_tag));
	if (!same) {
		return nullptr;
	}
	entry.last_use.store(uses_, std::memory_order_relaxed);
	found_.fetch_add(1, std::memory_order_relaxed);
	return entry.digest;
}

FooterCache::Digest FooterCache::Add(const string &key, skein_parquet::ParquetDigest digest) {
	auto text = TextOf(*digest.schema);
	std::lock_guard<std::shared_mutex> guard(mutex_);
	auto &shared = schemas_[std::move(text)];
	if (auto schema = shared.lock()) {
		digest.schema = std::move(schema);
	} else {
		shared = digest.schema;
	}
	auto is_kept = !MayChangeUnseen(digest);
	auto result = std::make_shared<const skein_parquet::ParquetDigest>(std::move(digest));
	auto old = entries_.find(key);
	if (old != entries_.end()) {
		bytes_ -= old->second.bytes;
		entries_.erase(old);
	}
	if (!is_kept) {
		return result;
	}
	auto &entry = entries_[key];
	entry.digest = result;
	entry.bytes = result->Memory() + key.size() + sizeof(Entry) + sizeof(string);
	entry.last_use = ++uses_;
	bytes_ += entry.bytes;
	added_++;
	TrimLocked();
	return result;
}

void FooterCache::TrimLocked() {
	if (bytes_ > max_bytes_) {
		std::vector<std::pair<uint64_t, decltype(entries_)::iterator>> by_use;
		by_use.reserve(entries_.size());
		for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
			by_use.emplace_back(entry->second.last_use, entry);
		}
		std::sort(by_use.begin(), by_use.end(), [](auto &left, auto &right) { return left.first < right.first; });
		for (size_t oldest = 0; bytes_ > max_bytes_ - max_bytes_ / SPARE && oldest < by_use.size(); oldest++) {
			bytes_ -= by_use[oldest].second->second.bytes;
			entries_.erase(by_use[oldest].second);
		}
	}
	if (schemas_.size() > 2 * schemas_after_clean_up_ + 16) {
		std::erase_if(schemas_, [](auto &entry) { return entry.second.expired(); });
		schemas_after_clean_up_ = schemas_.size();
	}
}

FooterCache::Numbers FooterCache::Read() {
	std::shared_lock<std::shared_mutex> guard(mutex_);
	return {found_, added_, entries_.size(), bytes_};
}

} // namespace skein
