#include "transport/in_process/in_process_transport.hpp"

#include "transport/in_process/in_process_link.hpp"

#include "duckdb/common/exception.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace skein {

namespace {

//! The end at which a name is listened: its handler, and the links it has accepted.
//!
//! Shared by its listener, by the registry until it stops, and by the accepted links until they are gone. Thread-safe.
class Node : public std::enable_shared_from_this<Node> {
public:
	explicit Node(LinkHandler &handler) : handler_(handler) {
	}

	//! Makes the accepting end for `client`; false if the node has stopped.
	bool Accept(const std::shared_ptr<InProcessLink> &client) {
		std::lock_guard<std::mutex> guard(lock_);
		if (stopped_) {
			return false;
		}
		auto on_gone = [self = shared_from_this()](InProcessLink &link) { self->Forget(link); };
		auto accepted = std::make_shared<InProcessLink>("in-process client " + std::to_string(++clients_), handler_,
														std::move(on_gone));
		InProcessLink::Join(client, accepted);
		links_.emplace(accepted.get(), accepted);
		return true;
	}

	void Stop() {
		std::unordered_map<InProcessLink *, std::shared_ptr<InProcessLink>> open;
		{
			std::lock_guard<std::mutex> guard(lock_);
			stopped_ = true;
			open = links_;
		}
		for (auto &entry : open) {
			entry.second->Close();
		}
		std::unique_lock<std::mutex> guard(lock_);
		all_gone_.wait(guard, [&] { return links_.empty(); });
	}

private:
	void Forget(InProcessLink &link) {
		std::lock_guard<std::mutex> guard(lock_);
		links_.erase(&link);
		if (links_.empty()) {
			all_gone_.notify_all();
		}
	}

	LinkHandler &handler_;
	std::mutex lock_;
	std::condition_variable all_gone_;
	std::unordered_map<InProcessLink *, std::shared_ptr<InProcessLink>> links_;
	size_t clients_ = 0;
	bool stopped_ = false;
};

} // namespace

//! Thread-safe.
class InProcessTransport::Registry {
public:
	//! Enters `node` and returns the name it got. Throws duckdb::IOException if the name is taken.
	std::string Add(const std::string &name, std::shared_ptr<Node> node) {
		std::lock_guard<std::mutex> guard(lock_);
		auto given = name;
		if (name.ends_with(":0")) {
			given = name.substr(0, name.size() - 1) + std::to_string(++last_port_);
		}
		if (!nodes_.emplace(given, std::move(node)).second) {
			throw duckdb::IOException("Cannot listen at \"%s\": another node of this process has that name", given);
		}
		return given;
	}

	void Remove(const std::string &name) {
		std::lock_guard<std::mutex> guard(lock_);
		nodes_.erase(name);
	}

	//! Null if nobody has that name.
	std::shared_ptr<Node> Find(const std::string &name) {
		std::lock_guard<std::mutex> guard(lock_);
		auto entry = nodes_.find(name);
		return entry == nodes_.end() ? nullptr : entry->second;
	}

private:
	std::mutex lock_;
	std::unordered_map<std::string, std::shared_ptr<Node>> nodes_;
	size_t last_port_ = 0;
};

namespace {

void CheckAddress(const std::string &address) {
	if (address.empty()) {
		throw duckdb::InvalidInputException("\"\" is not an address: an in-process node needs a name");
	}
}

} // namespace

//! Takes its node off the registry when it stops.
class InProcessTransport::InProcessListener final : public Listener {
public:
	InProcessListener(std::shared_ptr<Registry> registry, const std::string &address, LinkHandler &handler)
		: registry_(std::move(registry)), node_(std::make_shared<Node>(handler)),
		  address_(registry_->Add(address, node_)) {
	}

	~InProcessListener() override {
		Stop();
	}

	const std::string &Address() const override {
		return address_;
	}

	void Stop() override {
		if (InProcessLink::InsideHandler()) {
			throw duckdb::InternalException("Listener::Stop() called from a handler");
		}
		if (!removed_.exchange(true)) {
			registry_->Remove(address_);
		}
		node_->Stop();
	}

private:
	const std::shared_ptr<Registry> registry_;
	const std::shared_ptr<Node> node_;
	const std::string address_;
	//! The name may be another node's by the time of a second Stop().
	std::atomic<bool> removed_{false};
};

InProcessTransport::InProcessTransport() : registry_(std::make_shared<Registry>()) {
}

InProcessTransport::~InProcessTransport() = default;

std::shared_ptr<Link> InProcessTransport::Connect(const std::string &address, LinkHandler &handler,
												  const LinkOptions &options) {
	CheckAddress(address);
	auto link = std::make_shared<InProcessLink>(address, handler, nullptr);
	auto node = registry_->Find(address);
	if (!node || !node->Accept(link)) {
		link->CloseWith("cannot connect to \"" + address + "\": no node of this process listens under that name");
	}
	return link;
}

std::unique_ptr<Listener> InProcessTransport::Listen(const std::string &address, LinkHandler &handler) {
	CheckAddress(address);
	return std::make_unique<InProcessListener>(registry_, address, handler);
}

} // namespace skein
