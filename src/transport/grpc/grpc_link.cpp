#include "transport/grpc/grpc_link.hpp"

#include "transport/grpc/grpc_link_set.hpp"
#include "transport/grpc/host_port.hpp"

#include "duckdb/common/error_data.hpp"
#include "duckdb/common/exception.hpp"

#include <exception>
#include <utility>

namespace skein {

namespace {

//! Frames queued at the same time share a message up to this size.
constexpr size_t MAX_BATCH_BYTES = 256ULL << 10;

std::string Milliseconds(std::chrono::milliseconds time) {
	return std::to_string(time.count()) + " ms";
}

} // namespace

GrpcLink::GrpcLink(std::unique_ptr<GrpcCall> call, grpc::CompletionQueue &queue, std::string peer_address,
				   LinkHandler &handler, Timeouts timeouts, GrpcLinkSet &links)
	: queue_of_completions_(queue), peer_address_(std::move(peer_address)), handler_(handler), timeouts_(timeouts),
	  links_(links), call_(std::move(call)), accepted_(timeouts.connect.count() == 0) {
}

const std::string &GrpcLink::PeerAddress() const {
	return peer_address_;
}

PeerPlace GrpcLink::Place() const {
	return IsLoopback(peer_address_) ? PeerPlace::SAME_MACHINE : PeerPlace::ELSEWHERE;
}

void GrpcLink::Operation::Done(bool ok) {
	(link_.*on_done_)(ok);
	link_.End();
}

GrpcLink::Beginning GrpcLink::Begin(Operation &operation) {
	std::lock_guard<std::mutex> guard(lock_);
	return BeginLocked(operation);
}

GrpcLink::Beginning GrpcLink::BeginLocked(Operation &operation) {
	++operations_;
	return {call_, operation.Tag()};
}

void GrpcLink::End() {
	std::string reason;
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (--operations_ > 0 || !finished_) {
			return;
		}
		reason = ReasonLocked();
	}
	auto self = shared_from_this();
	handler_.OnClosed(*this, reason);
	std::shared_ptr<GrpcCall> call;
	{
		std::lock_guard<std::mutex> guard(lock_);
		call = std::move(call_);
	}
	links_.Remove(*this);
}

std::string GrpcLink::ReasonLocked() {
	if (!failure_.empty()) {
		return failure_;
	}
	if (peer_ended_) {
		return peer_reason_;
	}
	if (closed_here_ && !sent_) {
		return "";
	}
	auto detail = call_->Failure();
	auto what = (accepted_ ? "lost the connection to " : "cannot connect to ") + peer_address_;
	return detail.empty() ? what : what + ": " + detail;
}

void GrpcLink::Open() {
	Beginning start;
	{
		std::lock_guard<std::mutex> guard(lock_);
		start = BeginLocked(start_);
		if (timeouts_.connect.count() > 0) {
			connect_timer_.Set(&queue_of_completions_, std::chrono::system_clock::now() + timeouts_.connect,
							   BeginLocked(connect_timer_operation_).tag);
		}
	}
	start.call->Start(start.tag);
}

void GrpcLink::OnStarted(bool ok) {
	if (!ok) {
		EndReading();
		return;
	}
	bool write;
	{
		// Before the first read: what arrives may have to be answered.
		std::lock_guard<std::mutex> guard(lock_);
		started_ = true;
		write = ClaimWritingLocked();
	}
	auto accept = Begin(accept_);
	if (!accept.call->Accepted(accept.tag)) {
		Completion::EndOperation(accept.tag, true);
	}
	if (write) {
		WriteNext();
	}
}

void GrpcLink::OnAccepted(bool ok) {
	{
		std::lock_guard<std::mutex> guard(lock_);
		accepted_ = ok && call_->PeerIsSkein();
		if (accepted_) {
			connect_timer_.Cancel();
		}
	}
	StartRead();
}

void GrpcLink::OnConnectTimer(bool expired) {
	std::lock_guard<std::mutex> guard(lock_);
	if (expired && !accepted_) {
		FailLocked("cannot connect to " + peer_address_ + ": no answer within " + Milliseconds(timeouts_.connect));
		CancelLocked();
	}
}

void GrpcLink::StartRead() {
	auto read = Begin(read_);
	read.call->Read(&message_, read.tag);
}

void GrpcLink::OnRead(bool ok) {
	if (!ok) {
		EndReading();
		return;
	}
	HandOver();
	StartRead();
}

void GrpcLink::HandOver() {
	try {
		decoder_.Add(std::exchange(message_, {}));
		while (auto record = decoder_.Next()) {
			if (record->end) {
				OnPeerEnd(record->frame.header);
			} else {
				HandOver(std::move(record->frame));
			}
		}
	} catch (std::exception &ex) {
		Abort("lost the connection to " + peer_address_ + ": " + duckdb::ErrorData(ex).RawMessage());
	}
}

void GrpcLink::HandOver(Frame frame) {
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (closing_) {
			return;
		}
	}
	try {
		handler_.OnFrame(*this, std::move(frame));
	} catch (std::exception &ex) {
		CloseWith(duckdb::ErrorData(ex).RawMessage());
	} catch (...) {
		CloseWith("unknown error while receiving a frame from " + peer_address_);
	}
}

void GrpcLink::OnPeerEnd(const std::string &reason) {
	std::deque<Frame> dropped;
	bool write;
	{
		std::lock_guard<std::mutex> guard(lock_);
		peer_ended_ = true;
		peer_reason_ = reason;
		dropped.swap(queue_);
		BeginClosingLocked();
		write = ClaimWritingLocked();
	}
	if (write) {
		WriteNext();
	}
}

void GrpcLink::EndReading() {
	std::deque<Frame> dropped;
	{
		std::lock_guard<std::mutex> guard(lock_);
		read_ended_ = true;
		closing_ = true;
		dropped.swap(queue_);
		// Without the peer's end record the stream is broken; with it, ours may still be under way.
		write_ended_ = write_ended_ || !peer_ended_;
	}
	FinishIfDone();
}

void GrpcLink::Send(Frame frame) {
	if (frame.header.size() > Frame::MAX_HEADER_BYTES) {
		throw duckdb::InternalException("A frame's header has %llu bytes, more than is allowed", frame.header.size());
	}
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (closing_) {
			return;
		}
		sent_ = true;
		queue_.push_back(std::move(frame));
		if (!ClaimWritingLocked()) {
			return;
		}
	}
	WriteNext();
}

bool GrpcLink::ClaimWritingLocked() {
	auto end_is_due = closing_ && !end_written_;
	if (!started_ || writing_ || write_ended_ || (queue_.empty() && !end_is_due)) {
		return false;
	}
	writing_ = true;
	return true;
}

void GrpcLink::WriteNext() {
	if (!encoder_.HasMessage() && !EncodeBatch()) {
		FinishIfDone();
		return;
	}
	auto message = encoder_.TakeMessage();
	bool last;
	Beginning write;
	{
		std::lock_guard<std::mutex> guard(lock_);
		last = end_written_ && !encoder_.HasMessage();
		write = BeginLocked(write_);
	}
	write.call->Write(message, last, write.tag);
}

bool GrpcLink::EncodeBatch() {
	std::deque<Frame> batch;
	std::string reason;
	bool end = false;
	{
		std::lock_guard<std::mutex> guard(lock_);
		size_t bytes = 0;
		while (!queue_.empty() && bytes < MAX_BATCH_BYTES) {
			bytes += queue_.front().header.size() + queue_.front().body.size;
			batch.push_back(std::move(queue_.front()));
			queue_.pop_front();
		}
		end = queue_.empty() && closing_ && !end_written_ && !write_ended_;
		end_written_ = end_written_ || end;
		reason = failure_;
		if (batch.empty() && !end) {
			writing_ = false;
			return false;
		}
	}
	for (auto &frame : batch) {
		encoder_.Add(std::move(frame));
	}
	if (end) {
		encoder_.AddEnd(reason);
	}
	return true;
}

void GrpcLink::OnWritten(bool ok) {
	if (!ok) {
		// The read fails too and brings the end.
		encoder_.Clear();
		std::deque<Frame> dropped;
		std::lock_guard<std::mutex> guard(lock_);
		closing_ = true;
		write_ended_ = true;
		dropped.swap(queue_);
	}
	WriteNext();
}

void GrpcLink::Close() {
	CloseWith("");
}

void GrpcLink::CloseWith(const std::string &reason) {
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (closing_) {
			return;
		}
		closed_here_ = true;
		failure_ = reason;
		BeginClosingLocked();
		if (!started_ && !accepted_ && !sent_) {
			CancelLocked();
		}
		if (!ClaimWritingLocked()) {
			return;
		}
	}
	WriteNext();
}

void GrpcLink::BeginClosingLocked() {
	if (std::exchange(closing_, true)) {
		return;
	}
	close_timer_.Set(&queue_of_completions_, std::chrono::system_clock::now() + timeouts_.close,
					 BeginLocked(close_timer_operation_).tag);
}

void GrpcLink::OnCloseTimer(bool expired) {
	std::lock_guard<std::mutex> guard(lock_);
	if (expired && !finished_) {
		if (!peer_ended_) {
			FailLocked("closed the connection to " + peer_address_ + ", which did not take the last frames within " +
					   Milliseconds(timeouts_.close));
		}
		CancelLocked();
	}
}

void GrpcLink::Abort(const std::string &reason) {
	std::lock_guard<std::mutex> guard(lock_);
	FailLocked(reason);
	closing_ = true;
	CancelLocked();
}

void GrpcLink::FailLocked(const std::string &reason) {
	if (failure_.empty()) {
		failure_ = reason;
	}
}

void GrpcLink::CancelLocked() {
	if (call_) {
		call_->Cancel();
	}
}

void GrpcLink::FinishIfDone() {
	Beginning finish;
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (!read_ended_ || writing_ || finishing_) {
			return;
		}
		finishing_ = true;
		finish = BeginLocked(finish_);
	}
	finish.call->Finish(finish.tag);
}

void GrpcLink::OnFinished(bool ok) {
	std::lock_guard<std::mutex> guard(lock_);
	finished_ = true;
	connect_timer_.Cancel();
	close_timer_.Cancel();
}

} // namespace skein
