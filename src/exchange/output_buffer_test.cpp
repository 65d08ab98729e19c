#include "exchange/output_buffer.hpp"

#include "exchange/test_pages.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

class OutputBufferTest : public testing::Test {
protected:
	std::vector<int64_t> Values(OutputRead read) {
		return pages.Values(read.page->Pin());
	}

	PageMaker pages;
	ErrorData error{ExceptionType::OUT_OF_RANGE, "overflow"};
};

TEST_F(OutputBufferTest, GivesEachReaderItsPagesInOrder) {
	OutputBuffer buffer(2, OutputBuffer::UNBOUNDED);
	buffer.Append(0, pages.Make({1}));
	buffer.Append(1, pages.Make({2}));
	buffer.Append(0, pages.Make({3}));
	EXPECT_EQ(Values(buffer.Read(0)), std::vector<int64_t>{1});
	EXPECT_EQ(Values(buffer.Read(0)), std::vector<int64_t>{3});
	EXPECT_EQ(Values(buffer.Read(1)), std::vector<int64_t>{2});
	EXPECT_EQ(buffer.AppendedRows(), 3U);
}

TEST_F(OutputBufferTest, ShowsTheEndOnlyAfterFinishAndTheLastPage) {
	OutputBuffer buffer(1, OutputBuffer::UNBOUNDED);
	EXPECT_FALSE(buffer.Read(0).at_end);
	buffer.Append(0, pages.Make({1}));
	buffer.Finish();
	EXPECT_FALSE(buffer.Read(0, false).at_end);
	EXPECT_TRUE(buffer.Read(0).page);
	EXPECT_TRUE(buffer.Read(0).at_end);
}

TEST_F(OutputBufferTest, NeverShowsAnEndOnceAborted) {
	OutputBuffer buffer(1, OutputBuffer::UNBOUNDED);
	buffer.Append(0, pages.Make({1}));
	buffer.Abort(error);
	buffer.Finish();
	auto read = buffer.Read(0);
	EXPECT_TRUE(read.failed);
	EXPECT_FALSE(read.page);
	EXPECT_FALSE(read.at_end);
	EXPECT_EQ(read.error.Type(), ExceptionType::OUT_OF_RANGE);
}

TEST_F(OutputBufferTest, IsCompleteOnceFinishedAndCannotFailAnyMore) {
	OutputBuffer buffer(1, OutputBuffer::UNBOUNDED);
	buffer.Append(0, pages.Make({1}));
	buffer.Finish();
	buffer.Abort(error);
	EXPECT_EQ(Values(buffer.Read(0)), std::vector<int64_t>{1});
	EXPECT_TRUE(buffer.Read(0).at_end);
}

TEST_F(OutputBufferTest, WakesTheWriterOnceHalfOfItIsFree) {
	auto bytes = pages.Make({1})->Bytes();
	OutputBuffer buffer(1, 4 * bytes);
	int wakes = 0;
	buffer.SetWriterWaker([&]() { wakes++; });
	for (int64_t i = 0; i < 5; i++) {
		EXPECT_FALSE(buffer.IsFull());
		buffer.Append(0, pages.Make({i}));
	}
	EXPECT_TRUE(buffer.IsFull());
	buffer.Read(0);
	buffer.Read(0);
	EXPECT_TRUE(buffer.IsFull());
	EXPECT_EQ(wakes, 0);
	buffer.Read(0);
	EXPECT_FALSE(buffer.IsFull());
	EXPECT_EQ(wakes, 1);
	buffer.SetWriterWaker(nullptr);
}

TEST_F(OutputBufferTest, CountsAPageForAllReadersOnce) {
	auto page = pages.Make({1});
	OutputBuffer buffer(3, 2 * page->Bytes());
	buffer.AppendToAll(page);
	buffer.AppendToAll(pages.Make({2}));
	EXPECT_FALSE(buffer.IsFull());
	buffer.AppendToAll(pages.Make({3}));
	EXPECT_TRUE(buffer.IsFull());
	// The slowest reader holds the pages.
	for (idx_t reader = 0; reader < 2; reader++) {
		for (int i = 0; i < 3; i++) {
			EXPECT_TRUE(buffer.Read(reader).page);
		}
	}
	EXPECT_TRUE(buffer.IsFull());
	buffer.ClosePartition(2);
	EXPECT_FALSE(buffer.IsFull());
}

TEST_F(OutputBufferTest, IsAbandonedWhenTheLastReaderCloses) {
	OutputBuffer buffer(2, OutputBuffer::UNBOUNDED);
	int wakes = 0;
	buffer.SetWriterWaker([&]() { wakes++; });
	buffer.ClosePartition(0);
	buffer.ClosePartition(0);
	EXPECT_FALSE(buffer.IsAbandoned());
	EXPECT_EQ(wakes, 0);
	buffer.ClosePartition(1);
	EXPECT_TRUE(buffer.IsAbandoned());
	EXPECT_EQ(wakes, 1);
	EXPECT_TRUE(buffer.Read(0).closed);
	buffer.SetWriterWaker(nullptr);
}

TEST_F(OutputBufferTest, DropsWhatIsWrittenForAReaderThatHasClosed) {
	OutputBuffer buffer(2, 1);
	buffer.ClosePartition(0);
	buffer.Append(0, pages.Make({1}));
	EXPECT_FALSE(buffer.IsFull());
	EXPECT_FALSE(buffer.Read(0).page);
	buffer.Append(1, pages.Make({2}));
	EXPECT_TRUE(buffer.IsFull());
}

TEST_F(OutputBufferTest, FreesItsMemoryAndTheWriterWhenAborted) {
	auto before = pages.UsedMemory();
	OutputBuffer buffer(1, 1);
	int wakes = 0;
	int changes = 0;
	buffer.SetWriterWaker([&]() { wakes++; });
	buffer.SetReader(0, [&]() { changes++; });
	buffer.Append(0, pages.Make(std::vector<int64_t>(10000, 1)));
	EXPECT_TRUE(buffer.IsFull());
	EXPECT_GT(pages.UsedMemory(), before);
	buffer.Abort(error);
	EXPECT_FALSE(buffer.IsFull());
	EXPECT_EQ(pages.UsedMemory(), before);
	EXPECT_EQ(wakes, 1);
	EXPECT_EQ(changes, 2);
	buffer.Append(0, pages.Make({1}));
	EXPECT_FALSE(buffer.IsFull());
	buffer.SetWriterWaker(nullptr);
}

TEST_F(OutputBufferTest, TellsTheReaderOfEveryChange) {
	OutputBuffer buffer(2, OutputBuffer::UNBOUNDED);
	int changes = 0;
	buffer.SetReader(0, [&]() { changes++; });
	buffer.Append(0, pages.Make({1}));
	buffer.Append(1, pages.Make({1}));
	EXPECT_EQ(changes, 1);
	buffer.AppendToAll(pages.Make({1}));
	EXPECT_EQ(changes, 2);
	buffer.Finish();
	EXPECT_EQ(changes, 3);
	buffer.ClosePartition(0);
	EXPECT_EQ(changes, 4);
}

} // namespace
} // namespace skein
