#include "transport/grpc/body_pool.hpp"

#include "gtest/gtest.h"

#include <cstring>
#include <thread>

namespace skein {

namespace {

constexpr size_t BODY_BYTES = 1000 * 1000;

} // namespace

TEST(BodyPool, UsesAgainWhatWasLetGoOf) {
	auto pool = std::make_shared<BodyPool>();
	uint8_t *first, *second, *third;
	{
		auto body = pool->Take(BODY_BYTES, first);
		EXPECT_EQ(body.size, BODY_BYTES);
		EXPECT_EQ(body.data, first);
		EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 16, 0U);
		EXPECT_EQ(pool->KeptBytes(), 0U);
	}
	EXPECT_GE(pool->KeptBytes(), BODY_BYTES);
	auto body = pool->Take(BODY_BYTES - 100000, second);
	EXPECT_EQ(second, first);
	EXPECT_EQ(body.size, BODY_BYTES - 100000);
	auto other = pool->Take(BODY_BYTES, third);
	EXPECT_NE(third, first);
}

TEST(BodyPool, LeavesMuchLargerBlocksForLargerBodies) {
	auto pool = std::make_shared<BodyPool>();
	uint8_t *large, *small;
	pool->Take(4 * BODY_BYTES, large);
	auto body = pool->Take(BODY_BYTES, small);
	EXPECT_NE(small, large);
	EXPECT_GE(pool->KeptBytes(), 4 * BODY_BYTES);
}

TEST(BodyPool, KeepsNoMoreThanItMay) {
	auto pool = std::make_shared<BodyPool>();
	uint8_t *target;
	std::vector<SharedBytes> bodies;
	for (int i = 0; i < 20; i++) {
		bodies.push_back(pool->Take(BODY_BYTES, target));
	}
	bodies.clear();
	EXPECT_LE(pool->KeptBytes(), BodyPool::MAX_KEPT_BYTES);
	EXPECT_GE(pool->KeptBytes(), BodyPool::MAX_KEPT_BYTES - 2 * BODY_BYTES);
}

TEST(BodyPool, BodiesMayOutliveIt) {
	auto pool = std::make_shared<BodyPool>();
	uint8_t *target;
	auto body = pool->Take(BODY_BYTES, target);
	pool.reset();
	std::memset(target, 7, BODY_BYTES);
	EXPECT_EQ(body.data[BODY_BYTES - 1], 7);
}

TEST(BodyPool, ThreadsDoNotShareABody) {
	auto pool = std::make_shared<BodyPool>();
	std::vector<std::thread> threads;
	for (uint8_t id = 0; id < 4; id++) {
		threads.emplace_back([pool, id]() {
			for (int i = 0; i < 200; i++) {
				uint8_t *target;
				auto body = pool->Take(BodyPool::LEAST_BYTES, target);
				std::memset(target, id, body.size);
				EXPECT_EQ(body.data[0], id);
				EXPECT_EQ(body.data[body.size - 1], id);
			}
		});
	}
	for (auto &thread : threads) {
		thread.join();
	}
}

} // namespace skein
