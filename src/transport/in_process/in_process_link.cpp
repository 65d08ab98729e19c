#include "transport/in_process/in_process_link.hpp"

#include "duckdb/common/error_data.hpp"
#include "duckdb/common/exception.hpp"

#include <exception>
#include <utility>

namespace skein {

namespace {

using DrainList = std::deque<std::shared_ptr<InProcessLink>>;

//! The ends that this thread drains once the handler it is in has returned; null outside of handlers.
thread_local DrainList *pending_drains = nullptr;

} // namespace

InProcessLink::InProcessLink(std::string peer_address, LinkHandler &handler,
							 std::function<void(InProcessLink &)> on_gone)
	: peer_address_(std::move(peer_address)), handler_(handler), on_gone_(std::move(on_gone)) {
}

void InProcessLink::Join(const std::shared_ptr<InProcessLink> &one, const std::shared_ptr<InProcessLink> &other) {
	one->peer_ = other;
	other->peer_ = one;
}

const std::string &InProcessLink::PeerAddress() const {
	return peer_address_;
}

bool InProcessLink::InsideHandler() {
	return pending_drains != nullptr;
}

void InProcessLink::Send(Frame frame) {
	if (frame.header.size() > Frame::MAX_HEADER_BYTES) {
		throw duckdb::InternalException("A frame's header has %llu bytes, more than is allowed", frame.header.size());
	}
	std::shared_ptr<InProcessLink> peer;
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (closing_) {
			return;
		}
		peer = peer_;
	}
	peer->Deliver(std::move(frame));
}

void InProcessLink::Close() {
	CloseWith("");
}

void InProcessLink::CloseWith(const std::string &reason) {
	std::shared_ptr<InProcessLink> peer;
	std::deque<Frame> dropped;
	bool claimed;
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (reason_.empty() && !reason.empty()) {
			reason_ = reason;
		}
		closing_ = true;
		dropped.swap(inbox_);
		peer.swap(peer_);
		claimed = ClaimLocked();
	}
	if (peer) {
		peer->DeliverClose(reason);
	}
	if (claimed) {
		Run();
	}
}

void InProcessLink::Deliver(Frame frame) {
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (closing_) {
			return;
		}
		inbox_.push_back(std::move(frame));
		if (!ClaimLocked()) {
			return;
		}
	}
	Run();
}

void InProcessLink::DeliverClose(const std::string &reason) {
	std::shared_ptr<InProcessLink> peer;
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (closing_) {
			return;
		}
		closing_ = true;
		reason_ = reason;
		peer.swap(peer_);
		if (!ClaimLocked()) {
			return;
		}
	}
	Run();
}

bool InProcessLink::ClaimLocked() {
	return !std::exchange(claimed_, true);
}

void InProcessLink::Run() {
	auto self = std::static_pointer_cast<InProcessLink>(shared_from_this());
	if (pending_drains) {
		pending_drains->push_back(std::move(self));
		return;
	}
	DrainList drains;
	pending_drains = &drains;
	drains.push_back(std::move(self));
	while (!drains.empty()) {
		auto next = std::move(drains.front());
		drains.pop_front();
		next->Drain();
	}
	pending_drains = nullptr;
}

void InProcessLink::Drain() {
	while (true) {
		std::unique_lock<std::mutex> guard(lock_);
		if (!inbox_.empty()) {
			auto frame = std::move(inbox_.front());
			inbox_.pop_front();
			guard.unlock();
			HandOver(std::move(frame));
			continue;
		}
		if (!closing_) {
			claimed_ = false;
			return;
		}
		// claimed_ keeps everybody else out for good, so that this is the only OnClosed().
		auto reason = reason_;
		guard.unlock();
		handler_.OnClosed(*this, reason);
		if (on_gone_) {
			on_gone_(*this);
		}
		return;
	}
}

void InProcessLink::HandOver(Frame frame) {
	try {
		handler_.OnFrame(*this, std::move(frame));
	} catch (std::exception &ex) {
		CloseWith(duckdb::ErrorData(ex).RawMessage());
	} catch (...) {
		CloseWith("unknown error while receiving a frame from " + peer_address_);
	}
}

} // namespace skein
