#include "wire/page_container.hpp"

#include "wire/page_codec_format.hpp"

#include <algorithm>
#include <lz4.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace skein {

using duckdb::idx_t;
using duckdb::SerializationException;

namespace {

//! Larger pages, of single huge values, go as they are.
constexpr idx_t MAX_RAW_BYTES = idx_t(1) << 30;
//! What LZ4 can make of a byte at most.
constexpr idx_t MAX_LZ4_RATIO = 255;
//! The fastest of zstd's ordinary levels.
constexpr int ZSTD_LEVEL = 1;

//! Bytes written behind the container's header; 0 if they do not fit.
idx_t Compress(PageCompression compression, const SharedBytes &page, uint8_t *target, idx_t capacity) {
	if (compression == PageCompression::LZ4) {
		auto written = LZ4_compress_default(reinterpret_cast<const char *>(page.data), reinterpret_cast<char *>(target),
											static_cast<int>(page.size), static_cast<int>(capacity));
		return static_cast<idx_t>(std::max(written, 0));
	}
	auto written = ZSTD_compress(target, capacity, page.data, page.size, ZSTD_LEVEL);
	return ZSTD_isError(written) ? 0 : written;
}

bool Decompress(bool lz4, const uint8_t *source, idx_t size, uint8_t *target, idx_t raw_size) {
	if (lz4) {
		auto written = LZ4_decompress_safe(reinterpret_cast<const char *>(source), reinterpret_cast<char *>(target),
										   static_cast<int>(size), static_cast<int>(raw_size));
		return written >= 0 && static_cast<idx_t>(written) == raw_size;
	}
	return ZSTD_decompress(target, raw_size, source, size) == raw_size;
}

//! Whether the header claims a size that the compressed bytes can have come from.
bool IsPlausible(const PageHeader &header, bool lz4, const uint8_t *source, idx_t size) {
	if (header.raw_size < sizeof(PageHeader) || header.raw_size > MAX_RAW_BYTES || size > MAX_RAW_BYTES) {
		return false;
	}
	if (lz4) {
		return header.raw_size / MAX_LZ4_RATIO <= size;
	}
	return ZSTD_getFrameContentSize(source, size) == header.raw_size;
}

} // namespace

SharedBytes CompressPage(SharedBytes page, PageCompression compression) {
	if (compression == PageCompression::NONE || page.size > MAX_RAW_BYTES || page.size <= 2 * sizeof(PageHeader)) {
		return page;
	}
	// No room for more than is worth sending.
	std::shared_ptr<uint8_t[]> target(new uint8_t[page.size]);
	auto payload = Compress(compression, page, target.get() + sizeof(PageHeader), page.size - sizeof(PageHeader) - 1);
	if (payload == 0) {
		return page;
	}
	PageHeader header;
	memcpy(&header, page.data, sizeof(header));
	header.flags = compression == PageCompression::LZ4 ? PAGE_IS_LZ4 : PAGE_IS_ZSTD;
	header.checksum = 0;
	header.total_size = sizeof(header) + payload;
	header.raw_size = page.size;
	memcpy(target.get(), &header, sizeof(header));
	// A copy of the right size: the page waits at its reader, and counts there by its size.
	std::shared_ptr<uint8_t[]> fitting(new uint8_t[header.total_size]);
	memcpy(fitting.get(), target.get(), header.total_size);
	auto data = fitting.get();
	return {std::move(fitting), data, header.total_size};
}

SharedBytes DecompressPage(SharedBytes page) {
	PageHeader header;
	if (page.size < sizeof(header)) {
		return page;
	}
	memcpy(&header, page.data, sizeof(header));
	auto method = header.flags & (PAGE_IS_LZ4 | PAGE_IS_ZSTD);
	if (header.magic != PAGE_MAGIC || header.version != PAGE_VERSION || method == 0) {
		return page;
	}
	if (header.flags != PAGE_IS_LZ4 && header.flags != PAGE_IS_ZSTD) {
		throw SerializationException("Malformed page: unknown flags %d", int(header.flags));
	}
	if (header.total_size != page.size) {
		throw SerializationException("Malformed page: it says to have %llu bytes, and has %llu", header.total_size,
									 idx_t(page.size));
	}
	auto lz4 = header.flags == PAGE_IS_LZ4;
	auto source = page.data + sizeof(header);
	auto size = page.size - sizeof(header);
	if (!IsPlausible(header, lz4, source, size)) {
		throw SerializationException("Malformed page: %llu compressed bytes cannot be %llu", idx_t(size),
									 header.raw_size);
	}
	static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= PAGE_ALIGNMENT);
	std::shared_ptr<uint8_t[]> raw(new uint8_t[header.raw_size]);
	if (!Decompress(lz4, source, size, raw.get(), header.raw_size)) {
		throw SerializationException("Malformed page: it cannot be decompressed");
	}
	auto data = raw.get();
	return {std::move(raw), data, header.raw_size};
}

uint64_t ChecksumOf(const SharedBytes &bytes) {
	return XXH3_64bits(bytes.data, bytes.size);
}

} // namespace skein
