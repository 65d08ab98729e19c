#include "exchange/exchange_service.hpp"

#include "exchange/test_node.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace skein {
namespace {

using namespace duckdb;

constexpr size_t CREDIT = 1 << 20;

//! A node `reader` and a node `writer`, on one transport; outputs of `writer` are read locally and by `reader`.
class ExchangeServiceTest : public testing::TestWithParam<bool> {
protected:
	ExchangeServiceTest() : reader(transport, "reader"), writer(transport, "writer") {
		writer.node.Listen("writer");
	}
	//! The reading end: on the node of the output itself, or on the other.
	ExchangeService &Reading() {
		return GetParam() ? reader.node.Exchange() : writer.node.Exchange();
	}
	std::shared_ptr<OutputBuffer> AddOutput(uint32_t task, idx_t partitions = 1,
											idx_t capacity = OutputBuffer::UNBOUNDED) {
		auto buffer = std::make_shared<OutputBuffer>(partitions, capacity);
		writer.node.Exchange().AddOutput({"q", 1, task, 0}, 0, buffer);
		return buffer;
	}
	std::shared_ptr<ExchangeInput> Input(uint32_t tasks, size_t credit = CREDIT, uint32_t partition = 0) {
		std::vector<Producer> producers;
		for (uint32_t task = 0; task < tasks; task++) {
			producers.push_back({"writer", {{"q", 1, task, 0}, 0, partition}});
		}
		return std::make_shared<ExchangeInput>(Reading(), std::move(producers), credit);
	}
	//! Everything that has arrived, and in `state` what comes next.
	std::vector<int64_t> Drain(ExchangeInput &input, InputState &state) {
		std::vector<int64_t> result;
		SharedBytes page;
		while ((state = input.Next(page)) == InputState::PAGE) {
			auto values = pages.Values(page);
			result.insert(result.end(), values.begin(), values.end());
		}
		return result;
	}
	void DropAndExpectNothingLeft() {
		reader.node.Exchange().DropAttempt({"q", 0});
		writer.node.Exchange().DropAttempt({"q", 0});
		EXPECT_EQ(CensusTotal(reader.node), 0U);
		EXPECT_EQ(CensusTotal(writer.node), 0U);
	}

	PageMaker pages;
	InProcessTransport transport;
	TestNode reader;
	TestNode writer;
	InputState state = InputState::WAIT;
};

TEST_P(ExchangeServiceTest, ReadsAllProducersToTheirEnd) {
	auto first = AddOutput(0);
	auto second = AddOutput(1);
	auto input = Input(2);
	int wakes = 0;
	input->SetWaker([&]() { wakes++; });
	input->Open();
	EXPECT_EQ(Drain(*input, state), std::vector<int64_t>{});
	EXPECT_EQ(state, InputState::WAIT);
	first->Append(0, pages.Make({1, 2}));
	EXPECT_GT(wakes, 0);
	first->Finish();
	EXPECT_EQ(Drain(*input, state), (std::vector<int64_t>{1, 2}));
	EXPECT_EQ(state, InputState::WAIT);
	second->Append(0, pages.Make({3}));
	second->Finish();
	EXPECT_EQ(Drain(*input, state), std::vector<int64_t>{3});
	EXPECT_EQ(state, InputState::END);
	input->SetWaker(nullptr);
	input->Close();
	DropAndExpectNothingLeft();
}

// The thread that wakes the last task of a pipeline may be the one with which the reader goes.
TEST_P(ExchangeServiceTest, AReaderMayEndWhileItIsWoken) {
	auto output = AddOutput(0);
	auto input = Input(1);
	int wakes = 0;
	input->SetWaker([&]() {
		wakes++;
		input->SetWaker(nullptr);
		input->Close();
	});
	input->Open();
	output->Append(0, pages.Make({1, 2}));
	EXPECT_EQ(wakes, 1);
	EXPECT_TRUE(output->IsAbandoned());
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, AReaderOfMuchLeavesLittleToAnother) {
	auto output = AddOutput(0);
	auto input = Input(1);
	input->Open();
	auto page = pages.Make({1, 2});
	auto two_pages = 2 * page->Bytes();
	output->Append(0, std::move(page));
	SharedBytes taken;
	EXPECT_FALSE(input->IsReady(two_pages));
	EXPECT_EQ(input->Next(taken, two_pages), InputState::WAIT);
	EXPECT_TRUE(input->IsReady());

	output->Append(0, pages.Make({3, 4}));
	EXPECT_TRUE(input->IsReady(two_pages));
	EXPECT_EQ(input->Next(taken, two_pages), InputState::PAGE);
	EXPECT_EQ(pages.Values(taken), (std::vector<int64_t>{1, 2}));
	EXPECT_EQ(input->Next(taken, two_pages), InputState::WAIT);

	output->Finish();
	EXPECT_TRUE(input->IsReady(two_pages));
	EXPECT_EQ(input->Next(taken, two_pages), InputState::END);
	EXPECT_EQ(Drain(*input, state), (std::vector<int64_t>{3, 4}));
	EXPECT_EQ(state, InputState::END);
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, AReaderMayComeBeforeTheOutput) {
	auto input = Input(1);
	input->Open();
	auto output = AddOutput(0);
	output->Append(0, pages.Make({1}));
	output->Finish();
	EXPECT_EQ(Drain(*input, state), std::vector<int64_t>{1});
	EXPECT_EQ(state, InputState::END);
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, AnOutputThatWasGivenUpEarlyIsAbandoned) {
	auto input = Input(1);
	input->Close();
	EXPECT_TRUE(AddOutput(0)->IsAbandoned());
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, SendsNoFurtherAheadThanItsCredit) {
	auto output = AddOutput(0);
	auto page_bytes = pages.Make({0})->Bytes();
	auto input = Input(1, 4 * page_bytes);
	input->Open();
	for (int64_t i = 0; i < 100; i++) {
		output->Append(0, pages.Make({i}));
	}
	output->Finish();
	// Taken from under the reader's feet: what had not been sent never will be.
	output->ClosePartition(0);
	EXPECT_EQ(Drain(*input, state).size(), 4U);
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, GivesCreditBackForWhatItTakes) {
	auto output = AddOutput(0);
	auto input = Input(1, 4 * pages.Make({0})->Bytes());
	input->Open();
	std::vector<int64_t> expected;
	for (int64_t i = 0; i < 100; i++) {
		output->Append(0, pages.Make({i}));
		expected.push_back(i);
	}
	output->Finish();
	EXPECT_EQ(Drain(*input, state), expected);
	EXPECT_EQ(state, InputState::END);
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, ASlowReaderHoldsTheWriterBack) {
	auto page_bytes = pages.Make({0})->Bytes();
	auto output = AddOutput(0, 1, 4 * page_bytes);
	auto input = Input(1, 4 * page_bytes);
	input->Open();
	int64_t written = 0;
	while (!output->IsFull() && written < 1000) {
		output->Append(0, pages.Make({written++}));
	}
	// The window on the way, and the buffer.
	EXPECT_LE(written, 4 + 5);
	EXPECT_EQ(Drain(*input, state).size(), static_cast<size_t>(written));
	EXPECT_FALSE(output->IsFull());
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, AnErrorReachesTheReaderAsAConsequence) {
	auto output = AddOutput(0);
	auto input = Input(1);
	input->Open();
	output->Append(0, pages.Make({1}));
	output->Abort(ErrorData(ExceptionType::OUT_OF_RANGE, "overflow"));
	SharedBytes page;
	EXPECT_EQ(ErrorOf([&]() { input->Next(page); }), ExceptionType::OUT_OF_RANGE);
	EXPECT_TRUE(input->FailedAsConsequence());
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, AnOwnerThatHearsOfTheCauseIsLeftToReportIt) {
	auto output = AddOutput(0);
	std::vector<Producer> producers{{"writer", {{"q", 1, 0, 0}, 0, 0}}};
	auto input = std::make_shared<ExchangeInput>(Reading(), producers, CREDIT, OnConsequence::LEAVE_TO_OWNER);
	input->Open();
	output->Abort(ErrorData(ExceptionType::INTERRUPT, "ended"));
	SharedBytes page;
	EXPECT_EQ(input->Next(page), InputState::WAIT);
	input->Fail(ErrorData(ExceptionType::OUT_OF_RANGE, "overflow"), false);
	EXPECT_EQ(ErrorOf([&]() { input->Next(page); }), ExceptionType::OUT_OF_RANGE);
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, ClosingTellsTheProducersAndNobodyElse) {
	auto output = AddOutput(0, 2);
	auto input = Input(1);
	auto other = Input(1, CREDIT, 1);
	input->Open();
	other->Open();
	output->Append(0, pages.Make({1}));
	input->Close();
	EXPECT_FALSE(output->IsAbandoned());
	output->Append(0, pages.Make({2}));
	output->Append(1, pages.Make({3}));
	EXPECT_EQ(Drain(*other, state), std::vector<int64_t>{3});
	other->Close();
	EXPECT_TRUE(output->IsAbandoned());
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, DroppingAQueryEndsItsReaders) {
	auto output = AddOutput(0);
	auto input = Input(1);
	input->Open();
	writer.node.Exchange().DropAttempt({"q", 0});
	SharedBytes page;
	EXPECT_EQ(ErrorOf([&]() { input->Next(page); }), ExceptionType::INTERRUPT);
	EXPECT_TRUE(output->IsAbandoned());
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, WhatComesAfterTheEndOfItsQueryLeavesNothing) {
	AddOutput(0);
	writer.node.Exchange().DropAttempt({"q", 0});
	auto late = Input(3);
	late->Open();
	late->Close();
	auto unopened = Input(3);
	unopened->Close();
	EXPECT_EQ(CensusTotal(writer.node), 0U);
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, AFailedInputTellsNobody) {
	auto output = AddOutput(0);
	auto input = Input(1);
	input->Open();
	input->Fail(ErrorData(ExceptionType::IO, "lost"), false);
	SharedBytes page;
	EXPECT_EQ(ErrorOf([&]() { input->Next(page); }), ExceptionType::IO);
	input->Close();
	EXPECT_FALSE(output->IsAbandoned());
	DropAndExpectNothingLeft();
}

TEST_P(ExchangeServiceTest, ManyThreadsLoseNothing) {
	constexpr uint32_t WRITERS = 4;
	constexpr int64_t PAGES = 200;
	std::vector<std::shared_ptr<OutputBuffer>> outputs;
	auto page_bytes = pages.Make({0})->Bytes();
	for (uint32_t task = 0; task < WRITERS; task++) {
		outputs.push_back(AddOutput(task));
	}
	auto input = Input(WRITERS, 3 * page_bytes);
	std::mutex mutex;
	std::condition_variable changed;
	bool woken = false;
	input->SetWaker([&]() {
		std::lock_guard<std::mutex> guard(mutex);
		woken = true;
		changed.notify_one();
	});
	input->Open();
	std::vector<std::thread> threads;
	for (uint32_t task = 0; task < WRITERS; task++) {
		threads.emplace_back([&, task]() {
			for (int64_t i = 0; i < PAGES; i++) {
				outputs[task]->Append(0, pages.Make({i}));
			}
			outputs[task]->Finish();
		});
	}
	int64_t sum = 0;
	while (true) {
		for (auto value : Drain(*input, state)) {
			sum += value;
		}
		if (state == InputState::END) {
			break;
		}
		std::unique_lock<std::mutex> guard(mutex);
		ASSERT_TRUE(changed.wait_for(guard, std::chrono::seconds(20), [&]() { return woken; }));
		woken = false;
	}
	for (auto &thread : threads) {
		thread.join();
	}
	EXPECT_EQ(sum, WRITERS * PAGES * (PAGES - 1) / 2);
	input->SetWaker(nullptr);
	input->Close();
	DropAndExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Nodes, ExchangeServiceTest, testing::Bool(),
						 [](auto &info) { return info.param ? "Remote" : "Local"; });

class LostLinkTest : public ExchangeServiceTest {};

TEST_P(LostLinkTest, FailsTheReaderAndStopsTheSender) {
	auto output = AddOutput(0);
	auto input = Input(1);
	input->Open();
	output->Append(0, pages.Make({1}));
	reader.node.LinkTo("writer")->Close();
	SharedBytes page;
	EXPECT_EQ(ErrorOf([&]() { input->Next(page); }), ExceptionType::IO);
	EXPECT_FALSE(input->FailedAsConsequence());
	EXPECT_EQ(writer.node.Exchange().Count().senders, 0U);
	input->Close();
	DropAndExpectNothingLeft();
}

TEST_P(LostLinkTest, AReaderOfANodeThatIsNotThereFails) {
	std::vector<Producer> producers{{"nowhere", {{"q", 1, 0, 0}, 0, 0}}};
	auto input = std::make_shared<ExchangeInput>(reader.node.Exchange(), producers, CREDIT);
	input->Open();
	SharedBytes page;
	try {
		input->Next(page);
		FAIL() << "the input has no error";
	} catch (std::exception &ex) {
		EXPECT_NE(string(ex.what()).find("cannot reach worker nowhere"), string::npos) << ex.what();
	}
	input->Close();
	DropAndExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Nodes, LostLinkTest, testing::Values(true));

} // namespace
} // namespace skein
