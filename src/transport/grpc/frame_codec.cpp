#include "transport/grpc/frame_codec.hpp"

#include "duckdb/common/exception.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace skein {

namespace {

static_assert(std::endian::native == std::endian::little, "the prefix is written as it is in memory");

constexpr uint32_t KIND_FRAME = 0;
constexpr uint32_t KIND_END = 1;
constexpr size_t PREFIX_BYTES = 16;
constexpr uint64_t MAX_BODY_BYTES = 1ULL << 40;
constexpr size_t BODY_ALIGNMENT_BYTES = 16;

//! Bytes up to which copying is cheaper than one more slice.
constexpr size_t MAX_COPIED_BYTES = 4096;
//! Bounds what gRPC buffers of a long body at either end.
constexpr size_t MAX_MESSAGE_BYTES = 4ULL << 20;
//! Smaller bodies are always copied: a reference may keep far more memory alive than it covers.
constexpr size_t MIN_REFERRED_BYTES = 256ULL << 10;

struct alignas(BODY_ALIGNMENT_BYTES) BodyBlock {
	uint8_t bytes[BODY_ALIGNMENT_BYTES];
};

template <class OWNER>
grpc::Slice SliceKeeping(OWNER owner, const uint8_t *data, size_t size) {
	return grpc::Slice(
		const_cast<uint8_t *>(data), size, [](void *owner) { delete static_cast<OWNER *>(owner); },
		new OWNER(std::move(owner)));
}

bool IsAligned(const uint8_t *data) {
	return reinterpret_cast<uintptr_t>(data) % BODY_ALIGNMENT_BYTES == 0;
}

} // namespace

void FrameEncoder::Add(Frame frame) {
	AppendPrefix(KIND_FRAME, frame.header.size(), frame.body.size);
	AppendHeader(std::move(frame.header));
	AppendBody(std::move(frame.body));
}

void FrameEncoder::AddEnd(const std::string &reason) {
	AppendPrefix(KIND_END, reason.size(), 0);
	AppendHeader(reason);
}

bool FrameEncoder::HasMessage() const {
	return !slices_.empty() || !copied_.empty();
}

grpc::ByteBuffer FrameEncoder::TakeMessage() {
	SealCopied();
	std::vector<grpc::Slice> message;
	size_t bytes = 0;
	while (!slices_.empty() && (message.empty() || bytes + slices_.front().size() <= MAX_MESSAGE_BYTES)) {
		bytes += slices_.front().size();
		message.push_back(std::move(slices_.front()));
		slices_.pop_front();
	}
	return grpc::ByteBuffer(message.data(), message.size());
}

void FrameEncoder::Clear() {
	slices_.clear();
	copied_.clear();
}

void FrameEncoder::AppendPrefix(uint32_t kind, size_t header_size, size_t body_size) {
	uint8_t prefix[PREFIX_BYTES];
	const auto header_size_32 = static_cast<uint32_t>(header_size);
	const auto body_size_64 = static_cast<uint64_t>(body_size);
	std::memcpy(prefix, &header_size_32, sizeof(header_size_32));
	std::memcpy(prefix + 4, &kind, sizeof(kind));
	std::memcpy(prefix + 8, &body_size_64, sizeof(body_size_64));
	copied_.append(reinterpret_cast<const char *>(prefix), PREFIX_BYTES);
}

void FrameEncoder::AppendHeader(std::string header) {
	if (header.size() <= MAX_COPIED_BYTES) {
		copied_.append(header);
		return;
	}
	auto owner = std::make_shared<std::string>(std::move(header));
	auto data = reinterpret_cast<const uint8_t *>(owner->data());
	auto size = owner->size();
	SealCopied();
	AppendSlice(SliceKeeping(std::move(owner), data, size));
}

void FrameEncoder::AppendBody(SharedBytes body) {
	if (body.size == 0) {
		return;
	}
	if (body.size <= MAX_COPIED_BYTES) {
		copied_.append(reinterpret_cast<const char *>(body.data), body.size);
		return;
	}
	SealCopied();
	AppendSlice(SliceKeeping(std::move(body.owner), body.data, body.size));
}

void FrameEncoder::SealCopied() {
	if (copied_.empty()) {
		return;
	}
	// A short string may hold its bytes inside itself, so it must not move once the slice refers to them.
	auto owner = std::make_shared<std::string>(std::exchange(copied_, {}));
	auto data = reinterpret_cast<const uint8_t *>(owner->data());
	auto size = owner->size();
	AppendSlice(SliceKeeping(std::move(owner), data, size));
}

void FrameEncoder::AppendSlice(grpc::Slice slice) {
	for (size_t offset = 0; offset < slice.size(); offset += MAX_MESSAGE_BYTES) {
		slices_.push_back(slice.sub(offset, std::min(offset + MAX_MESSAGE_BYTES, slice.size())));
	}
}

void FrameDecoder::Add(const grpc::ByteBuffer &message) {
	std::vector<grpc::Slice> slices;
	if (!message.Dump(&slices).ok()) {
		throw duckdb::IOException("A message could not be read");
	}
	for (auto &slice : slices) {
		if (slice.size() > 0) {
			slices_.push_back(std::move(slice));
		}
	}
}

std::optional<FrameDecoder::Record> FrameDecoder::Next() {
	if (!TakePrefix() || !TakeHeader() || !TakeBody()) {
		return std::nullopt;
	}
	prefix_size_ = 0;
	body_target_ = nullptr;
	return std::exchange(record_, {});
}

size_t FrameDecoder::Take(uint8_t *target, size_t size) {
	size_t taken = 0;
	while (taken < size && !slices_.empty()) {
		auto &slice = slices_.front();
		auto now = std::min(size - taken, slice.size() - slice_offset_);
		std::memcpy(target + taken, slice.begin() + slice_offset_, now);
		taken += now;
		slice_offset_ += now;
		DropEmptySlice();
	}
	return taken;
}

void FrameDecoder::DropEmptySlice() {
	if (slice_offset_ == slices_.front().size()) {
		slices_.pop_front();
		slice_offset_ = 0;
	}
}

bool FrameDecoder::TakePrefix() {
	if (prefix_size_ == PREFIX_BYTES) {
		return true;
	}
	prefix_size_ += Take(prefix_ + prefix_size_, PREFIX_BYTES - prefix_size_);
	if (prefix_size_ < PREFIX_BYTES) {
		return false;
	}
	uint32_t header_size;
	uint32_t kind;
	uint64_t body_size;
	std::memcpy(&header_size, prefix_, sizeof(header_size));
	std::memcpy(&kind, prefix_ + 4, sizeof(kind));
	std::memcpy(&body_size, prefix_ + 8, sizeof(body_size));
	if (kind > KIND_END || header_size > Frame::MAX_HEADER_BYTES || body_size > MAX_BODY_BYTES) {
		throw duckdb::IOException("What arrived is not in Skein's format");
	}
	record_.end = kind == KIND_END;
	header_size_ = header_size;
	record_.frame.body.size = body_size;
	return true;
}

bool FrameDecoder::TakeHeader() {
	auto &header = record_.frame.header;
	auto taken = header.size();
	if (taken == header_size_) {
		return true;
	}
	// Grows by what has arrived, never by what was only announced.
	while (taken < header_size_ && !slices_.empty()) {
		header.resize(std::min(header_size_, taken + slices_.front().size() - slice_offset_));
		taken += Take(reinterpret_cast<uint8_t *>(header.data()) + taken, header.size() - taken);
	}
	return taken == header_size_;
}

bool FrameDecoder::TakeBody() {
	auto &body = record_.frame.body;
	if (body.size == 0) {
		return true;
	}
	if (!body_target_) {
		if (TryReferToBody()) {
			return true;
		}
		body_copied_ = 0;
		if (body.size >= BodyPool::LEAST_BYTES) {
			body = pool_->Take(body.size, body_target_);
		} else {
			auto blocks = (body.size + BODY_ALIGNMENT_BYTES - 1) / BODY_ALIGNMENT_BYTES;
			auto owner = std::make_shared_for_overwrite<BodyBlock[]>(blocks);
			body_target_ = owner[0].bytes;
			body.data = body_target_;
			body.owner = std::move(owner);
		}
	}
	body_copied_ += Take(body_target_ + body_copied_, body.size - body_copied_);
	return body_copied_ == body.size;
}

bool FrameDecoder::TryReferToBody() {
	auto &body = record_.frame.body;
	if (slices_.empty() || body.size < MIN_REFERRED_BYTES || slices_.front().size() - slice_offset_ < body.size ||
		!IsAligned(slices_.front().begin() + slice_offset_)) {
		return false;
	}
	auto owner = std::make_shared<grpc::Slice>(slices_.front().sub(slice_offset_, slice_offset_ + body.size));
	body.data = owner->begin();
	body.owner = std::move(owner);
	slice_offset_ += body.size;
	DropEmptySlice();
	return true;
}

} // namespace skein
