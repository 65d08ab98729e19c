#include "wire/page_container.hpp"

#include "wire/page_codec_format.hpp"
#include "wire/page_codec_test_support.hpp"

namespace skein {

namespace {

//! `page` with a changed header.
template <class CHANGE>
SharedBytes WithHeader(const SharedBytes &page, CHANGE change) {
	auto copy = CopyOf(page.data, page.size);
	PageHeader header;
	memcpy(&header, copy.data, sizeof(header));
	change(header);
	memcpy(const_cast<uint8_t *>(copy.data), &header, sizeof(header));
	return copy;
}

class PageContainerTest : public testing::TestWithParam<PageCompression> {
protected:
	PageContainerTest() : result(engine.Query("SELECT range, 'text ' || range % 10 FROM range(5000)")) {
		page = PageOf(*result);
		compressed = CompressPage(page, GetParam());
	}
	static SharedBytes PageOf(duckdb::MaterializedQueryResult &rows) {
		PageBuilder builder(duckdb::Allocator::DefaultAllocator(), rows.types);
		AppendAll(builder, rows);
		return Seal(builder, PageChecksum::NONE);
	}
	void ExpectRefused(const SharedBytes &bytes) {
		EXPECT_THROW(PageReader(bytes, result->types), duckdb::SerializationException);
	}

	Engine engine;
	duckdb::unique_ptr<duckdb::MaterializedQueryResult> result;
	SharedBytes page;
	SharedBytes compressed;
};

TEST_P(PageContainerTest, IsSmallerAndReadsAsThePageInside) {
	EXPECT_LT(compressed.size, page.size);
	auto back = DecompressPage(compressed);
	ASSERT_EQ(back.size, page.size);
	EXPECT_EQ(memcmp(back.data, page.data, page.size), 0);
	ExpectSameRows(ReadRows(compressed, result->types), ReadRows(page, result->types));
}

TEST_P(PageContainerTest, BytesThatDoNotShrinkGoAsTheyAre) {
	auto random = engine.Query("SELECT hash(range) FROM range(5000)");
	auto raw = PageOf(*random);
	EXPECT_EQ(CompressPage(raw, GetParam()).data, raw.data);
}

TEST_P(PageContainerTest, AnyCutIsRefused) {
	for (size_t size = 0; size < compressed.size; size += 97) {
		ExpectRefused(CopyOf(compressed.data, size));
	}
}

TEST_P(PageContainerTest, SizesThatCannotBeAreRefused) {
	for (auto size : {uint64_t(0), uint64_t(47), page.size - 1, page.size + 1, page.size * 1000, uint64_t(1) << 31,
					  uint64_t(1) << 40, ~uint64_t(0)}) {
		ExpectRefused(WithHeader(compressed, [&](PageHeader &header) { header.raw_size = size; }));
	}
	ExpectRefused(WithHeader(compressed, [](PageHeader &header) { header.total_size++; }));
}

TEST_P(PageContainerTest, OtherVersionsAndFlagsAreRefused) {
	ExpectRefused(WithHeader(compressed, [](PageHeader &header) { header.version = 1; }));
	for (auto flags : {PAGE_IS_LZ4 | PAGE_IS_ZSTD, PAGE_IS_LZ4 | PAGE_HAS_CHECKSUM, 8}) {
		ExpectRefused(WithHeader(compressed, [&](PageHeader &header) { header.flags = uint8_t(flags); }));
	}
}

TEST_P(PageContainerTest, NoChangedByteLeadsOutsideOfThePage) {
	for (size_t i = sizeof(PageHeader); i < compressed.size; i += 13) {
		auto changed = CopyOf(compressed.data, compressed.size);
		const_cast<uint8_t *>(changed.data)[i] ^= 0x55;
		try {
			ReadRows(changed, result->types);
		} catch (duckdb::SerializationException &) {
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Methods, PageContainerTest, testing::Values(PageCompression::LZ4, PageCompression::ZSTD),
						 [](auto &info) { return info.param == PageCompression::LZ4 ? "Lz4" : "Zstd"; });

} // namespace
} // namespace skein
