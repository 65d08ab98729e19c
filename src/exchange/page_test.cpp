#include "exchange/test_pages.hpp"

namespace skein {
namespace {

const std::vector<int64_t> MANY(10000, 7);

TEST(PagePoolTest, GivesOutWhatWasLetGo) {
	PageMaker maker;
	auto pool = maker.MakePool();
	auto page = maker.Make(MANY, pool);
	auto first = page->Pin().data;
	page.reset();
	auto used = maker.UsedMemory();
	auto next = maker.Make({1, 2, 3}, pool);
	EXPECT_NE(next->Pin().data, first) << "far too large for it";
	auto similar = maker.Make(std::vector<int64_t>(9500, 8), pool);
	EXPECT_EQ(similar->Pin().data, first);
	EXPECT_EQ(maker.Values(similar->Pin()), std::vector<int64_t>(9500, 8));
	// One block for the large ones, and the small one's, which is of DuckDB's least size.
	EXPECT_LE(maker.UsedMemory(), used + 4096);
}

TEST(PagePoolTest, APinnedPageIsNotLetGo) {
	PageMaker maker;
	auto pool = maker.MakePool();
	auto bytes = maker.Make(MANY, pool)->Pin();
	auto other = maker.Make(std::vector<int64_t>(10000, 8), pool);
	EXPECT_EQ(maker.Values(bytes), MANY);
}

TEST(PagePoolTest, KeepsNoMoreThanItsBound) {
	PageMaker maker;
	auto pool = maker.MakePool();
	auto before = maker.UsedMemory();
	std::vector<std::shared_ptr<Page>> pages;
	for (size_t i = 0; i < 2 * PagePool::MAX_KEPT_BYTES / (MANY.size() * sizeof(int64_t)); i++) {
		pages.push_back(maker.Make(MANY, pool));
	}
	pages.clear();
	// DuckDB rounds each block up to a multiple of 4 KiB.
	constexpr size_t MOST_ROUNDED = 8192;
	auto blocks = PagePool::MAX_KEPT_BYTES / (MANY.size() * sizeof(int64_t));
	EXPECT_LE(maker.UsedMemory(), before + PagePool::MAX_KEPT_BYTES + blocks * MOST_ROUNDED);
	EXPECT_GE(maker.UsedMemory(), before + PagePool::MAX_KEPT_BYTES / 2);
	pool.reset();
	EXPECT_LE(maker.UsedMemory(), before);
}

TEST(PagePoolTest, KeepsNothingSmall) {
	PageMaker maker;
	auto pool = maker.MakePool();
	auto before = maker.UsedMemory();
	std::vector<std::shared_ptr<Page>> pages;
	for (size_t i = 0; i < 1000; i++) {
		pages.push_back(maker.Make({1}, pool));
	}
	pages.clear();
	EXPECT_LE(maker.UsedMemory(), before);
}

TEST(PagePoolTest, WhatDuckDBTookBackIsNotGivenOut) {
	PageMaker maker;
	auto pool = maker.MakePool();
	maker.Make(MANY, pool).reset();
	// Less than is kept.
	ASSERT_FALSE(maker.connection.Query("SET memory_limit = '50KB'")->HasError());
	ASSERT_FALSE(maker.connection.Query("SET memory_limit = '1GB'")->HasError());
	auto page = maker.Make(MANY, pool);
	EXPECT_EQ(maker.Values(page->Pin()), MANY);
}

} // namespace
} // namespace skein
