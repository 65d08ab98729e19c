#include "exchange/sorted_merge.hpp"

#include "exchange/test_node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace skein {
namespace {

using namespace duckdb;

//! Sorted runs in the outputs of one node, merged on the same node.
class SortedMergeTest : public testing::TestWithParam<OrderType> {
protected:
	SortedMergeTest() : self(transport, "self") {
	}
	bool Before(int64_t left, int64_t right) const {
		return GetParam() == OrderType::ASCENDING ? left < right : left > right;
	}
	std::vector<int64_t> RandomRun(std::mt19937_64 &random, size_t rows, int64_t range) {
		std::uniform_int_distribution<int64_t> values(-range, range);
		std::vector<int64_t> run(rows);
		std::generate(run.begin(), run.end(), [&]() { return values(random); });
		std::sort(run.begin(), run.end(), [&](int64_t left, int64_t right) { return Before(left, right); });
		return run;
	}
	//! Appends a run as pages of random sizes.
	void Write(std::mt19937_64 &random, const std::vector<int64_t> &run, OutputBuffer &output) {
		std::uniform_int_distribution<size_t> sizes(1, 5000);
		for (size_t first = 0; first < run.size();) {
			auto last = std::min(run.size(), first + sizes(random));
			output.Append(0, pages.Make({run.begin() + static_cast<std::ptrdiff_t>(first),
										 run.begin() + static_cast<std::ptrdiff_t>(last)}));
			first = last;
		}
		output.Finish();
	}
	void Start(size_t producers) {
		std::vector<Producer> sources;
		for (uint32_t task = 0; task < producers; task++) {
			outputs.push_back(std::make_shared<OutputBuffer>(1, OutputBuffer::UNBOUNDED));
			self.node.Exchange().AddOutput({"q", 1, task, 0}, 0, outputs.back());
			sources.push_back({"self", {{"q", 1, task, 0}, 0, 0}});
		}
		input = std::make_shared<ExchangeInput>(self.node.Exchange(), sources, size_t(1) << 16);
		input->Open();
		std::vector<SortColumn> columns{{0, OrderModifiers(GetParam(), OrderByNullType::NULLS_LAST)}};
		merge = std::make_unique<SortedMerge>(*pages.connection.context, input, pages.types,
											  vector<SortColumn>(columns.begin(), columns.end()));
		chunk.Initialize(Allocator::DefaultAllocator(), pages.types);
	}
	//! Appends the next rows to `merged`; false if a producer has to be waited for.
	bool Step(bool &at_end) {
		chunk.Reset();
		if (!merge->Next(chunk)) {
			return false;
		}
		at_end = chunk.size() == 0;
		auto values = FlatVector::GetData<int64_t>(chunk.data[0]);
		merged.insert(merged.end(), values, values + chunk.size());
		return true;
	}
	void TearDown() override {
		merge.reset();
		input->Close();
		self.node.Exchange().DropAttempt({"q", 0});
		EXPECT_EQ(CensusTotal(self.node), 0U);
	}

	PageMaker pages;
	InProcessTransport transport;
	TestNode self;
	std::vector<std::shared_ptr<OutputBuffer>> outputs;
	std::shared_ptr<ExchangeInput> input;
	std::unique_ptr<SortedMerge> merge;
	DataChunk chunk;
	std::vector<int64_t> merged;
};

TEST_P(SortedMergeTest, IsTheSortOfAllRuns) {
	for (uint64_t seed = 0; seed < 8; seed++) {
		SCOPED_TRACE(seed);
		std::mt19937_64 random(seed);
		outputs.clear();
		merged.clear();
		chunk.Destroy();
		if (input) {
			TearDown();
		}
		self.node.Exchange().DropAttempt({"q", 0});
		Start(1 + random() % 7);
		std::vector<int64_t> expected;
		for (auto &output : outputs) {
			// Few values in many rows: ties; sometimes a producer without rows.
			auto run = RandomRun(random, random() % 4 == 0 ? 0 : random() % 20000, seed % 2 ? 50 : 1 << 30);
			expected.insert(expected.end(), run.begin(), run.end());
			Write(random, run, *output);
		}
		std::sort(expected.begin(), expected.end(), [&](int64_t left, int64_t right) { return Before(left, right); });
		bool at_end = false;
		while (!at_end) {
			ASSERT_TRUE(Step(at_end));
		}
		ASSERT_EQ(merged, expected);
	}
}

TEST_P(SortedMergeTest, WaitsForTheProducerWhoseNextRowIsMissing) {
	Start(2);
	auto low = GetParam() == OrderType::ASCENDING ? 1 : 9;
	auto high = 10 - low;
	bool at_end = false;
	EXPECT_FALSE(Step(at_end));
	outputs[0]->Append(0, pages.Make({low}));
	outputs[0]->Finish();
	EXPECT_FALSE(Step(at_end));
	EXPECT_EQ(merge->AwaitedProducer(), 1U);
	outputs[1]->Append(0, pages.Make({high}));
	// The first row is certain; the end is not.
	ASSERT_TRUE(Step(at_end));
	EXPECT_FALSE(Step(at_end));
	outputs[1]->Finish();
	while (!at_end) {
		ASSERT_TRUE(Step(at_end));
	}
	EXPECT_EQ(merged, (std::vector<int64_t>{low, high}));
}

TEST_P(SortedMergeTest, AnErrorOfOneProducerIsAnErrorOfTheMerge) {
	Start(2);
	outputs[0]->Append(0, pages.Make({1, 1, 1}));
	outputs[0]->Finish();
	outputs[1]->Abort(ErrorData(ExceptionType::OUT_OF_RANGE, "overflow"));
	EXPECT_EQ(ErrorOf([&]() { merge->Next(chunk); }), ExceptionType::OUT_OF_RANGE);
}

INSTANTIATE_TEST_SUITE_P(Orders, SortedMergeTest, testing::Values(OrderType::ASCENDING, OrderType::DESCENDING),
						 [](auto &info) { return info.param == OrderType::ASCENDING ? "Ascending" : "Descending"; });

} // namespace
} // namespace skein
