#pragma once

#include "transport/transport.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace skein {

//! Memory for the bodies that a link receives: what a reader has let go of is used again, as fresh memory costs a page
//! fault for every 4 KiB of it.
//!
//! Keeps at most MAX_KEPT_BYTES that nobody uses. Lives as long as a body does. Thread-safe.
class BodyPool : public std::enable_shared_from_this<BodyPool> {
public:
	static constexpr size_t MAX_KEPT_BYTES = size_t(4) << 20;
	//! Shorter bodies are not worth it.
	static constexpr size_t LEAST_BYTES = size_t(64) << 10;

	//! `size` bytes at a multiple of 16, with anything in them; `target`: where to write them.
	SharedBytes Take(size_t size, uint8_t *&target);

	size_t KeptBytes();

private:
	struct alignas(16) Unit {
		uint8_t bytes[16];
	};
	struct Block {
		std::unique_ptr<Unit[]> units;
		size_t bytes = 0;
	};

	//! A block of at least `bytes`, one that was kept if there is one of about that size.
	Block Find(size_t bytes);
	void GiveBack(Block block);

	std::mutex mutex_;
	std::vector<Block> kept_;
	size_t kept_bytes_ = 0;
};

} // namespace skein
