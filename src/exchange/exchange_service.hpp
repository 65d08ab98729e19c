#pragma once

#include "exchange/channel_sender.hpp"
#include "exchange/exchange_input.hpp"
#include "exchange/link_compression.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace skein {

namespace wire {
class Message;
} // namespace wire

//! The rows' side of a node: serves the outputs of its tasks and reads those of others, on this node or behind a link.
//!
//! Owned by Node. Thread-safe. Outputs may be asked for before they exist (tasks of a query start in any order): the
//! request waits until the output is added, or the query or the link ends.
class ExchangeService {
public:
	//! How to reach a node: a link that may still be opening. Throws when the address is malformed.
	using LinkTo = std::function<std::shared_ptr<Link>(const std::string &address)>;

	//! Whether LinkTo of that address returned this link and its end has not been told to OnLinkClosed() yet.
	using IsOpen = std::function<bool(const std::string &address, const Link &link)>;

	//! `own_address` is the name by which producers on this node are addressed.
	ExchangeService(std::string own_address, LinkTo link_to, IsOpen is_open);

	//! Makes an output readable, all its partitions. `task` is of this node.
	void AddOutput(const TaskKey &task, uint32_t output, std::shared_ptr<OutputBuffer> buffer,
				   LinkCompression compression = LinkCompression::AUTO);
	//! Forgets all outputs of an attempt and aborts what is still read of them. What is asked of the attempt later is
	//! ignored.
	void DropAttempt(const AttemptKey &attempt);
	//! Whether it was dropped lately.
	bool WasDropped(const AttemptKey &attempt);

	// Called by ExchangeInput.
	uint64_t NewChannelId() {
		return ++last_channel_;
	}
	void Subscribe(const Producer &producer, uint64_t channel, std::shared_ptr<ExchangeInput> input, size_t index,
				   size_t credit_bytes);
	void GiveCredit(const Producer &producer, uint64_t channel, size_t bytes);
	void Unsubscribe(uint64_t channel);
	void Discard(const Producer &producer);

	//! Handles a message if it is one of the exchange; false otherwise.
	bool OnMessage(Link &link, const wire::Message &message, SharedBytes body);
	//! `had_answered`: something had come from the peer.
	void OnLinkClosed(Link &link, const std::string &reason, bool had_answered);

	//! Pages that have gone to other processes, and come from them, as they were sent.
	uint64_t SentBytes() const {
		return sent_bytes_;
	}
	uint64_t ReceivedBytes() const {
		return received_bytes_;
	}

	//! What exists now: all 0 when no query runs.
	struct Census {
		size_t outputs;
		//! Requests for outputs that do not exist yet, and outputs given up before they exist.
		size_t waiting;
		size_t senders;
		size_t subscriptions;
	};
	Census Count();

private:
	struct Output {
		std::shared_ptr<OutputBuffer> buffer;
		LinkCompression compression;
	};
	struct OutputName {
		TaskKey task;
		uint32_t output;
		auto operator<=>(const OutputName &) const = default;
	};
	//! A link and a channel on it; nullptr for a reader on this node.
	using SenderKey = std::pair<Link *, uint64_t>;
	struct Request {
		SenderKey key;
		std::shared_ptr<Link> link;
		duckdb::idx_t partition;
		size_t credit_bytes;
	};
	struct Subscription {
		std::weak_ptr<ExchangeInput> input;
		size_t index;
		Link *link;
		std::string address;
		uint64_t next_sequence = 0;
	};

	//! Whether messages of the attempt may still be on their way although it was dropped.
	bool WasDroppedLocked(const AttemptKey &attempt) const;
	void Serve(const Output &output, const Request &request);
	ChannelTarget LinkTarget(const Output &output, const Request &request);
	ChannelTarget LocalTarget(uint64_t channel);
	void HandleSubscribe(const PartitionKey &partition, Request request);
	void HandleDiscard(const PartitionKey &partition);
	void RemoveSender(const SenderKey &key);
	//! The input behind a channel, with its index; forgets the channel if `last`.
	std::shared_ptr<ExchangeInput> FindInput(uint64_t channel, size_t &index, bool last);

	const std::string own_address_;
	const LinkTo link_to_;
	const IsOpen is_open_;
	std::atomic<uint64_t> last_channel_{0};
	std::atomic<uint64_t> sent_bytes_{0};
	std::atomic<uint64_t> received_bytes_{0};

	std::mutex mutex_;
	std::map<OutputName, Output> outputs_;
	std::map<OutputName, std::vector<Request>> waiting_;
	std::map<OutputName, std::vector<duckdb::idx_t>> discarded_early_;
	std::map<SenderKey, std::shared_ptr<ChannelSender>> senders_;
	std::map<uint64_t, Subscription> subscriptions_;
	//! The last attempts that were dropped, oldest first in `dropped_order_`.
	std::set<AttemptKey> dropped_;
	std::deque<AttemptKey> dropped_order_;
};

} // namespace skein
