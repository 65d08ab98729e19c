#pragma once

#include "exchange/messages.hpp"
#include "exchange/node.hpp"
#include "exchange/test_pages.hpp"
#include "transport/in_process/in_process_transport.hpp"

#include <condition_variable>

namespace skein {

//! Remembers what a node hands to its control handler.
class ControlRecorder final : public ControlHandler {
public:
	struct Loss {
		std::string address;
		std::string reason;
		bool had_answered;
	};

	void OnControl(const std::shared_ptr<Link> &link, const wire::Message &message) override {
		std::lock_guard<std::mutex> guard(mutex_);
		messages_.push_back(message);
		links_.push_back(link);
		changed_.notify_all();
	}
	void OnLinkLost(Link &link, const std::string &reason, bool had_answered) override {
		std::lock_guard<std::mutex> guard(mutex_);
		losses_.push_back({link.PeerAddress(), reason, had_answered});
		changed_.notify_all();
	}
	//! The first loss; waits for it.
	Loss FirstLoss() {
		std::unique_lock<std::mutex> guard(mutex_);
		if (!changed_.wait_for(guard, std::chrono::seconds(20), [&]() { return !losses_.empty(); })) {
			return {"", "no link was lost", false};
		}
		return losses_.front();
	}
	//! The link on which the first message came; waits for it.
	std::shared_ptr<Link> FirstLink() {
		std::unique_lock<std::mutex> guard(mutex_);
		changed_.wait_for(guard, std::chrono::seconds(20), [&]() { return !links_.empty(); });
		return links_.empty() ? nullptr : links_.front();
	}

private:
	std::mutex mutex_;
	std::condition_variable changed_;
	std::vector<wire::Message> messages_;
	std::vector<std::shared_ptr<Link>> links_;
	std::vector<Loss> losses_;
};

//! A node on a transport of its own or of others, with a recorder behind it.
struct TestNode {
	TestNode(Transport &transport, const std::string &name) : node(transport, name, control) {
	}
	~TestNode() {
		node.Stop();
	}
	ControlRecorder control;
	Node node;
};

inline size_t CensusTotal(Node &node) {
	auto census = node.Exchange().Count();
	return census.outputs + census.waiting + census.senders + census.subscriptions;
}

} // namespace skein
