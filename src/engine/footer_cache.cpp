#include "engine/footer_cache.hpp"

#include "engine/parquet_digest.hpp"

#include <algorithm>
#include <bit>
#include <functional>

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

FooterCache::FooterCache(idx_t max_bytes) : max_bytes_(max_bytes), slots_(1) {
}

size_t FooterCache::FindLocked(const string &key, uint64_t hash) const {
	auto mask = slots_.size() - 1;
	auto number = hash & mask;
	while (slots_[number].entry && (slots_[number].hash != hash || slots_[number].entry->key != key)) {
		number = (number + 1) & mask;
	}
	return number;
}

bool FooterCache::Holds(const string &key) {
	auto hash = std::hash<string>()(key);
	std::shared_lock<std::shared_mutex> guard(mutex_);
	return slots_[FindLocked(key, hash)].entry != nullptr;
}

FooterCache::Digest FooterCache::Find(const string &key, const FileVersion &version) {
	auto hash = std::hash<string>()(key);
	std::shared_lock<std::shared_mutex> guard(mutex_);
	auto &entry = slots_[FindLocked(key, hash)].entry;
	if (!entry) {
		return nullptr;
	}
	auto &digest = *entry->digest;
	auto same = digest.version.size == version.size && digest.version.last_modified == version.last_modified &&
				(version.tag.empty() || digest.list_tag.empty() || AreSameTags(version.tag, digest.list_tag));
	if (!same) {
		return nullptr;
	}
	entry->last_use.store(uses_, std::memory_order_relaxed);
	found_.fetch_add(1, std::memory_order_relaxed);
	return entry->digest;
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
	if (!is_kept) {
		RemoveLocked(key);
		return result;
	}
	auto &entry = EntryLocked(key);
	bytes_ -= entry.bytes;
	entry.digest = result;
	entry.bytes = result->Memory() + key.size() + sizeof(Entry) + 2 * sizeof(Slot);
	entry.last_use = ++uses_;
	bytes_ += entry.bytes;
	added_++;
	TrimLocked();
	return result;
}

FooterCache::Entry &FooterCache::EntryLocked(const string &key) {
	auto hash = std::hash<string>()(key);
	auto number = FindLocked(key, hash);
	if (!slots_[number].entry) {
		if (2 * (entries_ + 1) > slots_.size()) {
			PutEntriesLocked(TakeEntriesLocked());
			number = FindLocked(key, hash);
		}
		slots_[number] = {hash, std::make_unique<Entry>()};
		slots_[number].entry->key = key;
		entries_++;
	}
	return *slots_[number].entry;
}

void FooterCache::RemoveLocked(const string &key) {
	auto number = FindLocked(key, std::hash<string>()(key));
	if (!slots_[number].entry) {
		return;
	}
	bytes_ -= slots_[number].entry->bytes;
	entries_--;
	// No entry may be behind an empty slot on the way from its own: the next one that may move there does.
	auto mask = slots_.size() - 1;
	for (auto next = (number + 1) & mask; slots_[next].entry; next = (next + 1) & mask) {
		auto steps = (next - slots_[next].hash) & mask;
		if (steps >= ((next - number) & mask)) {
			slots_[number] = std::move(slots_[next]);
			number = next;
		}
	}
	slots_[number].entry.reset();
}

std::vector<FooterCache::Slot> FooterCache::TakeEntriesLocked() {
	std::vector<Slot> result;
	result.reserve(entries_);
	for (auto &slot : slots_) {
		if (slot.entry) {
			result.push_back(std::move(slot));
		}
	}
	return result;
}

void FooterCache::PutEntriesLocked(std::vector<Slot> entries) {
	entries_ = entries.size();
	slots_ = std::vector<Slot>(std::bit_ceil(4 * (entries_ + 1)));
	for (auto &slot : entries) {
		auto number = FindLocked(slot.entry->key, slot.hash);
		slots_[number] = std::move(slot);
	}
}

void FooterCache::TrimLocked() {
	if (bytes_ > max_bytes_) {
		auto by_use = TakeEntriesLocked();
		std::sort(by_use.begin(), by_use.end(),
				  [](auto &left, auto &right) { return left.entry->last_use > right.entry->last_use; });
		while (!by_use.empty() && bytes_ > max_bytes_ - max_bytes_ / SPARE) {
			bytes_ -= by_use.back().entry->bytes;
			by_use.pop_back();
		}
		PutEntriesLocked(std::move(by_use));
	}
	if (schemas_.size() > 2 * schemas_after_clean_up_ + 16) {
		std::erase_if(schemas_, [](auto &entry) { return entry.second.expired(); });
		schemas_after_clean_up_ = schemas_.size();
	}
}

FooterCache::Numbers FooterCache::Read() {
	std::shared_lock<std::shared_mutex> guard(mutex_);
	return {found_, added_, entries_, bytes_};
}

} // namespace skein
