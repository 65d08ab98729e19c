#pragma once

#include "transport/transport.hpp"
#include "wire/page_container.hpp"

namespace skein {

//! How pages travel, as the session has set it. The numbers are those of the messages.
enum class LinkCompression : uint8_t { AUTO = 0, NONE = 1, LZ4 = 2, ZSTD = 3 };

//! What that means on a link. Nothing is ever compressed inside a process, and by itself nothing inside a machine,
//! where bytes are cheaper than the work to save them.
inline PageCompression CompressionFor(LinkCompression compression, PeerPlace place) {
	if (place == PeerPlace::SAME_PROCESS) {
		return PageCompression::NONE;
	}
	switch (compression) {
	case LinkCompression::LZ4:
		return PageCompression::LZ4;
	case LinkCompression::ZSTD:
		return PageCompression::ZSTD;
	case LinkCompression::AUTO:
		return place == PeerPlace::SAME_MACHINE ? PageCompression::NONE : PageCompression::LZ4;
	default:
		return PageCompression::NONE;
	}
}

} // namespace skein
