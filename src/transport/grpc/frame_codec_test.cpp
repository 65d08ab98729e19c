#include "transport/grpc/frame_codec.hpp"

#include "duckdb/common/exception.hpp"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace skein {

namespace {

SharedBytes Body(size_t size, uint8_t first) {
	auto owner = std::make_shared<std::vector<uint8_t>>(size);
	for (size_t i = 0; i < size; i++) {
		(*owner)[i] = static_cast<uint8_t>(first + i * 7);
	}
	auto data = owner->data();
	return {std::move(owner), data, size};
}

std::string Bytes(const SharedBytes &bytes) {
	return std::string(reinterpret_cast<const char *>(bytes.data), bytes.size);
}

std::string Bytes(const grpc::ByteBuffer &message) {
	std::vector<grpc::Slice> slices;
	EXPECT_TRUE(message.Dump(&slices).ok());
	std::string result;
	for (auto &slice : slices) {
		result.append(reinterpret_cast<const char *>(slice.begin()), slice.size());
	}
	return result;
}

//! `stream` as messages of slices of random sizes.
std::vector<grpc::ByteBuffer> CutAtRandom(const std::string &stream, uint64_t seed) {
	std::mt19937_64 random(seed);
	std::vector<grpc::ByteBuffer> messages;
	std::vector<grpc::Slice> slices;
	for (size_t offset = 0; offset < stream.size();) {
		auto size = std::min<size_t>(stream.size() - offset, 1 + random() % (random() % 3 == 0 ? 5 : 60000));
		slices.emplace_back(stream.data() + offset, size);
		offset += size;
		if (random() % 3 == 0 || offset == stream.size()) {
			messages.emplace_back(slices.data(), slices.size());
			slices.clear();
		}
	}
	return messages;
}

} // namespace

TEST(FrameCodec, FramesSurviveAnyCutOfTheStream) {
	std::vector<Frame> frames;
	for (size_t size : {0, 1, 15, 16, 17, 4095, 4096, 4097, 100000, 300000}) {
		frames.push_back({std::string(size % 5000, 'h'), Body(size, size)});
		frames.push_back({"", Body(size, 1)});
	}
	FrameEncoder encoder;
	for (auto &frame : frames) {
		encoder.Add(frame);
	}
	encoder.AddEnd("the end");
	std::string stream;
	while (encoder.HasMessage()) {
		stream += Bytes(encoder.TakeMessage());
	}
	for (uint64_t seed = 0; seed < 20; seed++) {
		FrameDecoder decoder;
		size_t next = 0;
		bool end = false;
		for (auto &message : CutAtRandom(stream, seed)) {
			decoder.Add(message);
			while (auto record = decoder.Next()) {
				if (record->end) {
					EXPECT_EQ(record->frame.header, "the end");
					end = true;
					continue;
				}
				ASSERT_LT(next, frames.size());
				ASSERT_EQ(record->frame.header, frames[next].header) << "seed " << seed;
				ASSERT_EQ(Bytes(record->frame.body), Bytes(frames[next].body)) << "seed " << seed;
				ASSERT_EQ(reinterpret_cast<uintptr_t>(record->frame.body.data) % 16, 0u);
				next++;
			}
		}
		EXPECT_EQ(next, frames.size());
		EXPECT_TRUE(end);
	}
}

TEST(FrameCodec, SmallFramesShareAMessage) {
	FrameEncoder encoder;
	for (size_t i = 0; i < 100; i++) {
		encoder.Add({"header", Body(100, 1)});
	}
	encoder.TakeMessage();
	EXPECT_FALSE(encoder.HasMessage());
}

TEST(FrameCodec, ALongBodyTakesSeveralMessagesAndIsNotCopied) {
	FrameEncoder encoder;
	auto body = Body(20 << 20, 1);
	encoder.Add({"header", body});
	bool referred = false;
	size_t messages = 0;
	while (encoder.HasMessage()) {
		auto message = encoder.TakeMessage();
		EXPECT_LE(message.Length(), 8u << 20);
		std::vector<grpc::Slice> slices;
		ASSERT_TRUE(message.Dump(&slices).ok());
		for (auto &slice : slices) {
			referred = referred || slice.begin() == body.data;
		}
		messages++;
	}
	EXPECT_GT(messages, 2u);
	EXPECT_TRUE(referred);
}

TEST(FrameCodec, AnAlignedBodyInOnePieceIsNotCopied) {
	FrameEncoder encoder;
	encoder.Add({std::string(5000, 'h'), Body(1 << 20, 1)});
	auto stream = Bytes(encoder.TakeMessage());
	for (size_t shift : {0, 8}) {
		// Puts the body at a multiple of 16, or 8 bytes after one.
		auto memory = std::make_unique<uint8_t[]>(stream.size() + 32);
		auto body_offset = stream.size() - (1 << 20);
		auto start = memory.get();
		while (reinterpret_cast<uintptr_t>(start + body_offset) % 16 != shift) {
			start++;
		}
		std::memcpy(start, stream.data(), stream.size());
		grpc::Slice slice(start, stream.size(), grpc::Slice::STATIC_SLICE);
		FrameDecoder decoder;
		decoder.Add(grpc::ByteBuffer(&slice, 1));
		auto record = decoder.Next();
		ASSERT_TRUE(record);
		EXPECT_EQ(record->frame.body.data == start + body_offset, shift == 0);
		EXPECT_EQ(Bytes(record->frame.body), Bytes(Body(1 << 20, 1)));
	}
}

TEST(FrameCodec, TheOwnerOfABodyIsHeldUntilTheMessageIsGone) {
	auto body = Body(1 << 20, 1);
	std::weak_ptr<const void> owner = body.owner;
	FrameEncoder encoder;
	encoder.Add({"", std::move(body)});
	{
		auto message = encoder.TakeMessage();
		EXPECT_FALSE(owner.expired());
	}
	EXPECT_TRUE(owner.expired());
}

TEST(FrameCodec, OtherBytesAreRefused) {
	for (auto bytes : {std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::string(16, '\xff'),
					   std::string("\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16),
					   std::string("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", 16)}) {
		grpc::Slice slice(bytes);
		FrameDecoder decoder;
		decoder.Add(grpc::ByteBuffer(&slice, 1));
		EXPECT_THROW(decoder.Next(), duckdb::IOException);
	}
}

} // namespace skein
