#include "transport/grpc/body_pool.hpp"

#include <algorithm>
#include <utility>

namespace skein {

BodyPool::Block BodyPool::Find(size_t bytes) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto fits = [&](const Block &block) { return block.bytes >= bytes && block.bytes / 2 <= bytes; };
		// From the end: what was let go of last is the likeliest to be in a cache.
		auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
		if (found != kept_.rend()) {
			auto block = std::move(*found);
			kept_.erase(std::next(found).base());
			kept_bytes_ -= block.bytes;
			return block;
		}
	}
	auto units = (bytes + sizeof(Unit) - 1) / sizeof(Unit);
	return {std::make_unique_for_overwrite<Unit[]>(units), units * sizeof(Unit)};
}

void BodyPool::GiveBack(Block block) {
	// Freed without the lock, the oldest first.
	std::vector<Block> dropped;
	std::lock_guard<std::mutex> guard(mutex_);
	kept_bytes_ += block.bytes;
	kept_.push_back(std::move(block));
	auto end = kept_.begin();
	for (; kept_bytes_ > MAX_KEPT_BYTES; ++end) {
		kept_bytes_ -= end->bytes;
		dropped.push_back(std::move(*end));
	}
	kept_.erase(kept_.begin(), end);
}

SharedBytes BodyPool::Take(size_t size, uint8_t *&target) {
	auto block = std::make_shared<Block>(Find(size));
	target = block->units[0].bytes;
	auto owner = std::shared_ptr<const void>(
		target, [pool = shared_from_this(), block](const void *) { pool->GiveBack(std::move(*block)); });
	return {std::move(owner), target, size};
}

size_t BodyPool::KeptBytes() {
	std::lock_guard<std::mutex> guard(mutex_);
	return kept_bytes_;
}

} // namespace skein
