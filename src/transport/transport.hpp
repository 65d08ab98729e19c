#pragma once

#include "wire/shared_bytes.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace skein {

//! One message on a link: a short header (control messages) and an opaque body (a page; may be empty).
struct Frame {
	static constexpr size_t MAX_HEADER_BYTES = 64ULL << 20;

	std::string header;
	SharedBytes body;
};

class Link;

//! Where the other end of a link is, as far as that decides what a byte costs.
enum class PeerPlace { SAME_PROCESS, SAME_MACHINE, ELSEWHERE };

//! Receives what arrives on a link.
//!
//! Calls for one link come one at a time and in order; calls for different links may run at the same time.
//! They run on a thread of the transport or on one that is inside Send(), Close(), Connect() or Stop(). So they must
//! not block, and nobody may hold a lock that a handler takes while calling one of these four from outside a handler.
//! Inside a handler Send(), Close() and Connect() run no other handler; Stop() must not be called there.
class LinkHandler {
public:
	virtual ~LinkHandler() = default;
	//! A frame has arrived. Frames keep the order in which the peer sent them. No call begins after Close() was called
	//! here from inside a handler of this link; after a Close() from elsewhere one that had begun may still be running.
	//! An exception that leaves it closes the link, with its message as the reason at both ends.
	virtual void OnFrame(Link &link, Frame frame) = 0;
	//! The link is gone; no call follows for it. Called exactly once, also when connecting failed or Close() was called
	//! here, possibly before Connect() has returned. Must not throw.
	//! `reason` is one line for a user: what happened and to which address; empty after an orderly Close() by either
	//! side.
	virtual void OnClosed(Link &link, const std::string &reason) = 0;
};

//! An ordered, reliable pipe of frames between two nodes; symmetrical once it is open.
//!
//! Shared by its users and by the transport until OnClosed() has returned: dropping it does not close it. A handler
//! that wants to keep a link it was given takes shared_from_this(). Thread-safe.
//! An accepted link is first heard of by its first frame or, if there was none, by OnClosed().
//! A Link buffers what it could not write yet; how much that can be is bounded by its users, who send pages only
//! against credit given by the receiver.
class Link : public std::enable_shared_from_this<Link> {
public:
	virtual ~Link() = default;
	//! Queues a frame for the peer and returns at once. Frames sent before the link is open wait for it; frames sent
	//! after it has closed are dropped, as OnClosed() has told. The header must not exceed Frame::MAX_HEADER_BYTES.
	virtual void Send(Frame frame) = 0;
	//! Ends the link: frames queued before are still delivered, unless the peer closes too or does not take them within
	//! the transport's close deadline; frames that arrive from now on are dropped. Idempotent.
	virtual void Close() = 0;
	//! The peer as a user would write it: `host:port`, or the name of an in-process node.
	virtual const std::string &PeerAddress() const = 0;
	//! ELSEWHERE where it is not known.
	virtual PeerPlace Place() const {
		return PeerPlace::ELSEWHERE;
	}
};

struct LinkOptions {
	//! A link that could not be opened in this time is closed with a reason.
	std::chrono::milliseconds connect_timeout{5000};
	//! A peer that has not answered for this long is taken for lost; an idle link is pinged four times as often.
	std::chrono::milliseconds keepalive{4000};
};

//! Accepts links until it is stopped.
class Listener {
public:
	virtual ~Listener() = default;
	//! The address under which peers reach this listener, with the port really bound.
	virtual const std::string &Address() const = 0;
	//! Accepts no more links and closes those it accepted; returns when OnClosed() has run for all of them, which takes
	//! no longer than the transport's close deadline. Idempotent; the destructor calls it.
	virtual void Stop() = 0;
};

//! Makes links. How to write one: implement Connect() and Listen() so that test/conformance passes.
//!
//! Owned by the program's root object; must outlive all links and listeners made by it.
class Transport {
public:
	virtual ~Transport() = default;
	//! Starts to open a link and returns at once; if it cannot be opened, `handler` gets OnClosed() with the reason.
	//! `handler` must live until its OnClosed() has returned.
	//! Throws duckdb::InvalidInputException if the address is malformed, naming it.
	virtual std::shared_ptr<Link> Connect(const std::string &address, LinkHandler &handler,
										  const LinkOptions &options) = 0;
	//! Accepts links at `address` (port 0 picks a free one) and hands what arrives on them to `handler`, which must
	//! live until Stop() has returned. Throws duckdb::InvalidInputException if the address is malformed and
	//! duckdb::IOException if it is in use or not of this machine, naming it.
	virtual std::unique_ptr<Listener> Listen(const std::string &address, LinkHandler &handler) = 0;
};

} // namespace skein
