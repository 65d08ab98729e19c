#pragma once

#include "transport/grpc/body_pool.hpp"
#include "transport/transport.hpp"

#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace skein {

//! A link's frames as one stream of bytes, cut into gRPC messages wherever it suits the sender.
//!
//!     stream = { record } end-record        record = prefix header body
//!     prefix = header size (4 bytes), kind (4 bytes: 0 frame, 1 end), body size (8 bytes), all little-endian
//!
//! So frames queued together share a message and a long body takes several. The header of the end record is the reason
//! why the sender closes the link, empty if it is an orderly close.

//! Makes messages out of frames. A body is not copied unless it is small: the message refers to it and keeps its owner.
//!
//! Used by one thread at a time.
class FrameEncoder {
public:
	void Add(Frame frame);
	void AddEnd(const std::string &reason);
	bool HasMessage() const;
	//! The next message of at most a few MiB. Requires HasMessage().
	grpc::ByteBuffer TakeMessage();
	//! Forgets what was not taken.
	void Clear();

private:
	void AppendPrefix(uint32_t kind, size_t header_size, size_t body_size);
	void AppendHeader(std::string header);
	void AppendBody(SharedBytes body);
	//! Makes a slice of what was copied, so that one that refers to other memory can follow.
	void SealCopied();
	void AppendSlice(grpc::Slice slice);

	std::deque<grpc::Slice> slices_;
	//! The end of the stream so far, not in slices_ yet.
	std::string copied_;
};

//! Finds the frames in messages.
//!
//! Bodies are contiguous and start at a multiple of 16 bytes: usually a copy, or the received memory itself where it
//! happens to be so. Used by one thread at a time.
class FrameDecoder {
public:
	struct Record {
		Frame frame;
		//! The last record; frame.header is the reason.
		bool end = false;
	};

	void Add(const grpc::ByteBuffer &message);
	//! The next record, if all of it has arrived. Throws duckdb::IOException if the bytes cannot be Skein's.
	std::optional<Record> Next();

private:
	//! Takes up to `size` bytes of what has arrived; returns how many.
	size_t Take(uint8_t *target, size_t size);
	//! Gives up the slice at the front once all of it was taken.
	void DropEmptySlice();
	bool TakePrefix();
	bool TakeHeader();
	bool TakeBody();
	//! Sets the body to the received memory, if all of it is in one piece there and aligned.
	bool TryReferToBody();

	const std::shared_ptr<BodyPool> pool_ = std::make_shared<BodyPool>();
	std::deque<grpc::Slice> slices_;
	//! Bytes already taken of the first slice.
	size_t slice_offset_ = 0;

	uint8_t prefix_[16];
	size_t prefix_size_ = 0;
	Record record_;
	size_t header_size_ = 0;
	//! Where the body is copied to; set once the header is complete.
	uint8_t *body_target_ = nullptr;
	size_t body_copied_ = 0;
};

} // namespace skein
