#pragma once

#include "wire/shared_bytes.hpp"

namespace skein {

enum class PageCompression : uint8_t { NONE, LZ4, ZSTD };

//! A sealed page in the form in which it travels: compressed behind a header of its own, or as it is if it does not get
//! smaller. Does not change `page`.
SharedBytes CompressPage(SharedBytes page, PageCompression compression);

//! The page that was given to CompressPage(). Of a page that is not compressed nothing is looked at.
//! Malformed bytes, and sizes that no page of ours can have, end in duckdb::SerializationException before any memory is
//! taken for them.
SharedBytes DecompressPage(SharedBytes page);

//! XXH3-64 of the bytes, for whoever carries them.
uint64_t ChecksumOf(const SharedBytes &bytes);

} // namespace skein
