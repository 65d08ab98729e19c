#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace skein {

//! Immutable bytes, kept alive by whoever holds `owner`.
struct SharedBytes {
	std::shared_ptr<const void> owner;
	const uint8_t *data = nullptr;
	size_t size = 0;
};

} // namespace skein
