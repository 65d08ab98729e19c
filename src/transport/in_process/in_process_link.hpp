#pragma once

#include "transport/transport.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace skein {

//! One end of a link inside the process: an inbox, and the handler it is emptied into.
//!
//! Kept alive by its users, and by its peer end until it is closed.
class InProcessLink final : public Link {
public:
	//! `on_gone` may be empty; it is called once, after OnClosed() has returned.
	InProcessLink(std::string peer_address, LinkHandler &handler, std::function<void(InProcessLink &)> on_gone);

	//! Makes two ends each other's peer. Before it, nothing else may be called on them.
	static void Join(const std::shared_ptr<InProcessLink> &one, const std::shared_ptr<InProcessLink> &other);

	//! Whether the calling thread is inside a handler of any link in the process.
	static bool InsideHandler();

	void Send(Frame frame) override;
	void Close() override;
	const std::string &PeerAddress() const override;
	PeerPlace Place() const override {
		return PeerPlace::SAME_PROCESS;
	}
	//! Close(), with a reason for the handlers of both ends.
	void CloseWith(const std::string &reason);

private:
	void Deliver(Frame frame);
	//! The peer has closed: what is in the inbox goes first.
	void DeliverClose(const std::string &reason);
	//! Empties the inbox into the handler, and waits for nothing. At most one thread is inside.
	void Drain();
	//! Calls the handler with one frame; what it throws closes the link.
	void HandOver(Frame frame);
	//! Marks this end as about to be drained; false if it is already.
	bool ClaimLocked();
	//! Drains this end: at once, or when the handler that this thread is running has returned.
	void Run();

	const std::string peer_address_;
	LinkHandler &handler_;
	const std::function<void(InProcessLink &)> on_gone_;

	std::mutex lock_;
	//! Null once this end is closed.
	std::shared_ptr<InProcessLink> peer_;
	std::deque<Frame> inbox_;
	std::string reason_;
	//! No frame is added any more; OnClosed() follows the last one.
	bool closing_ = false;
	//! Some thread drains this end or is about to. Stays true after OnClosed().
	bool claimed_ = false;
};

} // namespace skein
