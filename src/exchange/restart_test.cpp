#include "exchange/test_node.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

constexpr size_t CREDIT = 1 << 20;

//! A reader on one node, and attempts of two tasks whose outputs are on another.
class RestartTest : public testing::Test {
protected:
	RestartTest() : reader(transport, "reader"), writer(transport, "writer") {
		writer.node.Listen("writer");
		input = std::make_shared<ExchangeInput>(reader.node.Exchange(), Producers(0), CREDIT,
												OnConsequence::LEAVE_TO_OWNER);
		input->AllowRestart([this]() { first_reads++; });
	}
	~RestartTest() override {
		input->Close();
		for (uint32_t attempt = 0; attempt < 2; attempt++) {
			reader.node.Exchange().DropAttempt({"q", attempt});
			writer.node.Exchange().DropAttempt({"q", attempt});
		}
		EXPECT_EQ(CensusTotal(reader.node), 0U);
		EXPECT_EQ(CensusTotal(writer.node), 0U);
	}
	static std::vector<Producer> Producers(uint32_t attempt) {
		return {{"writer", {{"q", 1, 0, attempt}, 0, 0}}, {"writer", {{"q", 1, 1, attempt}, 0, 0}}};
	}
	std::shared_ptr<OutputBuffer> AddOutput(uint32_t attempt, uint32_t task) {
		auto buffer = std::make_shared<OutputBuffer>(1, OutputBuffer::UNBOUNDED);
		writer.node.Exchange().AddOutput({"q", 1, task, attempt}, 0, buffer);
		return buffer;
	}
	std::vector<int64_t> Drain() {
		std::vector<int64_t> result;
		SharedBytes page;
		while ((state = input->Next(page)) == InputState::PAGE) {
			auto values = pages.Values(page);
			result.insert(result.end(), values.begin(), values.end());
		}
		return result;
	}

	PageMaker pages;
	InProcessTransport transport;
	TestNode reader;
	TestNode writer;
	std::shared_ptr<ExchangeInput> input;
	InputState state = InputState::WAIT;
	int first_reads = 0;
};

TEST_F(RestartTest, ReadsOnlyTheNewAttempt) {
	input->Open();
	auto old = AddOutput(0, 0);
	old->Append(0, pages.Make({1, 2}));
	ASSERT_TRUE(input->Rewind());
	input->Restart(Producers(1));
	old->Append(0, pages.Make({3}));
	old->Finish();
	AddOutput(0, 1)->Finish();
	EXPECT_EQ(Drain(), std::vector<int64_t>{});
	EXPECT_EQ(state, InputState::WAIT);
	auto fresh = AddOutput(1, 0);
	fresh->Append(0, pages.Make({7}));
	fresh->Finish();
	AddOutput(1, 1)->Finish();
	EXPECT_EQ(Drain(), std::vector<int64_t>{7});
	EXPECT_EQ(state, InputState::END);
	EXPECT_EQ(first_reads, 1);
}

TEST_F(RestartTest, AReaderThatHasSeenAPageIsNotSentBack) {
	input->Open();
	AddOutput(0, 0)->Append(0, pages.Make({1}));
	EXPECT_EQ(Drain(), std::vector<int64_t>{1});
	EXPECT_FALSE(input->Rewind());
}

TEST_F(RestartTest, AReaderThatHasSeenAnEndIsNotSentBack) {
	input->Open();
	AddOutput(0, 0)->Finish();
	AddOutput(0, 1)->Finish();
	EXPECT_EQ(Drain(), std::vector<int64_t>{});
	EXPECT_EQ(state, InputState::END);
	EXPECT_FALSE(input->Rewind());
}

TEST_F(RestartTest, WhatWasClosedBeforeIsGivenUpInTheNewAttempt) {
	input->Open();
	input->Close();
	ASSERT_TRUE(input->Rewind());
	input->Restart(Producers(1));
	EXPECT_TRUE(AddOutput(1, 0)->IsAbandoned());
	EXPECT_TRUE(AddOutput(1, 1)->IsAbandoned());
}

TEST_F(RestartTest, TheFirstPageMayWaitForAllOthers) {
	input->SetFirstPage(FirstPage::WITH_ALL_OTHERS);
	input->Open();
	auto first = AddOutput(0, 0);
	first->Append(0, pages.Make({1}));
	first->Finish();
	EXPECT_FALSE(input->IsReady());
	EXPECT_EQ(Drain(), std::vector<int64_t>{});
	auto second = AddOutput(0, 1);
	second->Finish();
	EXPECT_TRUE(input->IsReady());
	EXPECT_EQ(Drain(), std::vector<int64_t>{1});
	EXPECT_EQ(state, InputState::END);
}

TEST_F(RestartTest, AProducerThatHasUsedItsCreditIsNotWaitedFor) {
	input->SetFirstPage(FirstPage::WITH_ALL_OTHERS);
	input->Open();
	auto output = AddOutput(0, 0);
	size_t rows = 0;
	for (auto held = output->AppendedBytes(); held < CREDIT; held = output->AppendedBytes()) {
		EXPECT_FALSE(input->IsReady());
		output->Append(0, pages.Make(std::vector<int64_t>(1000)));
		rows += 1000;
	}
	EXPECT_TRUE(input->IsReady());
	EXPECT_EQ(Drain().size(), rows);
}

TEST_F(RestartTest, AReaderInOrderSeesNothingBeforeTheFirstInItsOrder) {
	input->SetFirstPage(FirstPage::IN_ORDER);
	input->Open();
	auto second = AddOutput(0, 1);
	second->Append(0, pages.Make({2}));
	second->Finish();
	EXPECT_FALSE(input->IsReadyFrom(1));
	AddOutput(0, 0)->Finish();
	EXPECT_TRUE(input->IsReadyFrom(0));
	SharedBytes page;
	EXPECT_EQ(input->NextFrom(0, page), InputState::END);
	EXPECT_EQ(input->NextFrom(1, page), InputState::PAGE);
}

TEST_F(RestartTest, ALostWorkerIsLeftToTheOwner) {
	input->Open();
	AddOutput(0, 0)->Append(0, pages.Make({1}));
	writer.node.Stop();
	EXPECT_EQ(reader.control.FirstLoss().address, "writer");
	EXPECT_TRUE(input->Rewind());
}

TEST(ReplayTest, BeginsWithEverythingAndGoesOn) {
	PageMaker pages;
	auto first = std::make_shared<OutputBuffer>(2, OutputBuffer::UNBOUNDED);
	first->KeepForReplay(1 << 20);
	first->Append(0, pages.Make({1}));
	first->AppendToAll(pages.Make({2}));
	EXPECT_EQ(pages.Values(first->Read(0).page->Pin()), std::vector<int64_t>{1});
	first->ClosePartition(0);
	first->ClosePartition(1);
	EXPECT_FALSE(first->IsAbandoned());

	auto second = first->Replay();
	ASSERT_TRUE(second);
	first->Abort(ErrorData(ExceptionType::INTERRUPT, "over"));
	first->Append(1, pages.Make({3}));
	first->Finish();
	std::vector<int64_t> values[2];
	for (idx_t partition = 0; partition < 2; partition++) {
		while (auto page = second->Read(partition).page) {
			for (auto value : pages.Values(page->Pin())) {
				values[partition].push_back(value);
			}
		}
		EXPECT_TRUE(second->Read(partition).at_end);
	}
	EXPECT_EQ(values[0], (std::vector<int64_t>{1, 2}));
	EXPECT_EQ(values[1], (std::vector<int64_t>{2, 3}));
	EXPECT_TRUE(second->Replay());
}

TEST(ReplayTest, IsRefusedWhenNotEverythingIsKept) {
	PageMaker pages;
	auto small = std::make_shared<OutputBuffer>(1, OutputBuffer::UNBOUNDED);
	small->KeepForReplay(pages.Make({1})->Bytes());
	small->Append(0, pages.Make({1}));
	small->Append(0, pages.Make({2}));
	EXPECT_FALSE(small->Replay());

	auto stopped = std::make_shared<OutputBuffer>(1, OutputBuffer::UNBOUNDED);
	stopped->KeepForReplay(1 << 20);
	stopped->Append(0, pages.Make({1}));
	stopped->ClosePartition(0);
	stopped->StopKeeping();
	EXPECT_TRUE(stopped->IsAbandoned());
	EXPECT_FALSE(stopped->Replay());
}

} // namespace
} // namespace skein
