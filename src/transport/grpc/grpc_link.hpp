#pragma once

#include "transport/grpc/completion_threads.hpp"
#include "transport/grpc/frame_codec.hpp"
#include "transport/grpc/grpc_call.hpp"
#include "transport/transport.hpp"

#include <grpcpp/alarm.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace skein {

class GrpcLinkSet;

//! One end of a link over a gRPC stream; the same class at both ends.
//!
//! Closing: an end that closes sends an end record after its last frame and goes on reading; the other end answers with
//! its own end record and drops what it had not sent. Whoever has the other's end record was closed in order. The
//! client's end record also ends its half of the stream; the server finishes the call when that has arrived.
//!
//! Threads: operations end on any thread of the completion queue, Send() and Close() come from anywhere. The next read
//! starts when the handler has returned, and OnClosed() runs when every operation has ended: so the handler is called
//! by one at a time. `writing_` is the right to use the encoder and to write: whoever sets it goes on until nothing is
//! left. With the lock held gRPC is only called to cancel or to set a timer, and the handler never.
//! Lifetime: kept by its GrpcLinkSet from Open() until OnClosed() has returned, so also while any operation is under
//! way.
class GrpcLink final : public Link {
public:
	struct Timeouts {
		//! Zero: the link is open from the start.
		std::chrono::milliseconds connect{0};
		std::chrono::milliseconds close{0};
	};

	//! `links` outlives the link's OnClosed(), `queue` all of its operations.
	GrpcLink(std::unique_ptr<GrpcCall> call, grpc::CompletionQueue &queue, std::string peer_address,
			 LinkHandler &handler, Timeouts timeouts, GrpcLinkSet &links);

	//! To be called once, when the link is in its set.
	void Open();
	//! Ends the link at once; what has not been sent is lost. `reason` is for the handler.
	void Abort(const std::string &reason);

	void Send(Frame frame) override;
	void Close() override;
	const std::string &PeerAddress() const override;
	PeerPlace Place() const override;

private:
	//! An operation of the link: gRPC's tag for it, and what follows its end.
	class Operation final : public Completion {
	public:
		Operation(GrpcLink &link, void (GrpcLink::*on_done)(bool ok)) : link_(link), on_done_(on_done) {
		}

	private:
		void Done(bool ok) override;

		GrpcLink &link_;
		void (GrpcLink::*const on_done_)(bool ok);
	};

	void OnStarted(bool ok);
	void OnAccepted(bool ok);
	void OnRead(bool ok);
	void OnWritten(bool ok);
	void OnFinished(bool ok);
	void OnConnectTimer(bool expired);
	void OnCloseTimer(bool expired);

	//! What an operation is started with: the link may be gone before the call that starts it has returned.
	struct Beginning {
		std::shared_ptr<GrpcCall> call;
		void *tag;
	};
	//! Counts an operation that is about to start. Nothing ends while one is counted.
	Beginning Begin(Operation &operation);
	Beginning BeginLocked(Operation &operation);
	void End();

	void StartRead();
	//! Hands the frames of `message_` to the handler.
	void HandOver();
	void HandOver(Frame frame);
	void OnPeerEnd(const std::string &reason);
	//! No read will succeed any more.
	void EndReading();

	//! Close(); a non-empty reason is for the handlers of both ends.
	void CloseWith(const std::string &reason);
	//! From now on frames are dropped in both directions; the end record follows what is in `queue_`.
	void BeginClosingLocked();
	//! Takes the right to write; false if somebody has it, or if there is nothing to write yet.
	bool ClaimWritingLocked();
	//! Writes the next message, or gives up the right to write.
	void WriteNext();
	//! Moves frames from the queue to the encoder; false if there are none.
	bool EncodeBatch();
	void FinishIfDone();
	//! Keeps the first reason.
	void FailLocked(const std::string &reason);
	void CancelLocked();
	std::string ReasonLocked();

	grpc::CompletionQueue &queue_of_completions_;
	const std::string peer_address_;
	LinkHandler &handler_;
	const Timeouts timeouts_;
	GrpcLinkSet &links_;

	Operation start_{*this, &GrpcLink::OnStarted};
	Operation accept_{*this, &GrpcLink::OnAccepted};
	Operation read_{*this, &GrpcLink::OnRead};
	Operation write_{*this, &GrpcLink::OnWritten};
	Operation finish_{*this, &GrpcLink::OnFinished};
	Operation connect_timer_operation_{*this, &GrpcLink::OnConnectTimer};
	Operation close_timer_operation_{*this, &GrpcLink::OnCloseTimer};

	//! Used by the read that is under way.
	grpc::ByteBuffer message_;
	FrameDecoder decoder_;
	//! Used by whoever has set `writing_`.
	FrameEncoder encoder_;

	std::mutex lock_;
	//! Null once the link is gone.
	std::shared_ptr<GrpcCall> call_;
	grpc::Alarm connect_timer_;
	grpc::Alarm close_timer_;
	std::deque<Frame> queue_;
	size_t operations_ = 0;
	std::string failure_;
	std::string peer_reason_;
	bool started_ = false;
	bool accepted_ = false;
	bool sent_ = false;
	bool writing_ = false;
	bool closing_ = false;
	bool closed_here_ = false;
	bool end_written_ = false;
	bool peer_ended_ = false;
	//! Nothing can be read any more.
	bool read_ended_ = false;
	//! Nothing can be written any more, nor need it be.
	bool write_ended_ = false;
	bool finishing_ = false;
	bool finished_ = false;
};

} // namespace skein
