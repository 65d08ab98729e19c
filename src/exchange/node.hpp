#pragma once

#include "exchange/exchange_service.hpp"
#include "exchange/message_meter.hpp"

#include <condition_variable>
#include <set>

namespace skein {

//! What a node does with control messages. Calls come on transport threads and must not block.
class ControlHandler {
public:
	virtual ~ControlHandler() = default;
	virtual void OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) = 0;
	//! The link is gone; `reason` is empty after an orderly end. `had_answered`: something had come from the peer.
	virtual void OnLinkLost(Link &link, const std::string &reason, bool had_answered) = 0;
};

//! The version of the messages and pages; nodes of different versions refuse each other.
constexpr uint32_t PROTOCOL_VERSION = 4;
//! The address that stands for the node which started a query: a link it dialled is used in the other direction.
constexpr const char *COORDINATOR_ADDRESS = "@coordinator";

//! One end of all links of a worker or a coordinator: dials and accepts, greets, hands rows to the exchange and the
//! rest to the control handler.
//!
//! Owned by whoever owns the worker or the coordinator; `transport` and `control` must outlive it. Thread-safe.
class Node final : public LinkHandler {
public:
	Node(Transport &transport, std::string own_address, ControlHandler &control, LinkOptions options = {});
	~Node() override;

	ExchangeService &Exchange() {
		return exchange_;
	}
	//! How long the messages took that came over links.
	const MessageMeter &Messages() const {
		return messages_;
	}
	//! The link to a node, dialled if there is none yet. Throws when the address is malformed.
	std::shared_ptr<Link> LinkTo(const std::string &address);
	//! Makes `name` an address of the peer behind `link`, for LinkTo(), until RemoveAlias().
	void AddAlias(const std::string &name, std::shared_ptr<Link> link);
	void RemoveAlias(const std::string &name);
	//! Whether LinkTo(address) gives this link, or would again.
	bool IsOpen(const std::string &address, const Link &link);
	//! Accepts links at `address`; returns the address really bound.
	std::string Listen(const std::string &address);
	//! Closes all links and returns when the last has closed. Idempotent.
	void Stop();

	void OnFrame(Link &link, Frame frame) override;
	void OnClosed(Link &link, const std::string &reason) override;

private:
	void Handle(Link &link, const wire::Message &message, SharedBytes body);
	//! Answers the greeting of a peer: welcomes or refuses it.
	void Greet(Link &link, const wire::Message &message);

	Transport &transport_;
	ControlHandler &control_;
	const LinkOptions options_;
	std::mutex dial_mutex_;
	std::mutex mutex_;
	std::condition_variable all_closed_;
	std::map<std::string, std::shared_ptr<Link>> dialled_;
	//! The address that is being dialled, under dial_mutex_; empty when none is.
	std::string dialling_;
	bool closed_while_dialling_ = false;
	std::map<std::string, std::shared_ptr<Link>> aliases_;
	std::map<Link *, std::string> refusals_;
	//! Links on which something has come.
	std::set<Link *> answered_;
	//! Calls of OnClosed() for links that have left dialled_.
	size_t closing_ = 0;
	bool stopped_ = false;
	std::unique_ptr<Listener> listener_;
	ExchangeService exchange_;
	MessageMeter messages_;
};

} // namespace skein
