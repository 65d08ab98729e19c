#include "exchange/node.hpp"

#include "exchange/messages.hpp"
#include "skein/version.hpp"

namespace skein {

using namespace duckdb;

namespace {

wire::Message MakeHello() {
	wire::Message message;
	auto &hello = *message.mutable_hello();
	hello.set_protocol(PROTOCOL_VERSION);
	hello.set_engine_version(DuckDB::LibraryVersion());
	hello.set_skein_version(SKEIN_VERSION);
	return message;
}

string DescribeVersion(const wire::Hello &hello) {
	return "Skein " + hello.skein_version() + " (protocol " + std::to_string(hello.protocol()) + ") with DuckDB " +
		   hello.engine_version();
}

} // namespace

Node::Node(Transport &transport, std::string own_address, ControlHandler &control, LinkOptions options)
	: transport_(transport), control_(control), options_(options),
	  exchange_(
		  std::move(own_address), [this](const std::string &address) { return LinkTo(address); },
		  [this](const std::string &address, const Link &link) { return IsOpen(address, link); }) {
}

Node::~Node() {
	Stop();
}

std::shared_ptr<Link> Node::LinkTo(const std::string &address) {
	std::lock_guard<std::mutex> dial_guard(dial_mutex_);
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto entry = dialled_.find(address);
		if (entry != dialled_.end()) {
			return entry->second;
		}
		auto alias = aliases_.find(address);
		if (alias != aliases_.end()) {
			return alias->second;
		}
		if (stopped_) {
			throw IOException("cannot reach worker %s: this process is stopping", address);
		}
		dialling_ = address;
		closed_while_dialling_ = false;
	}
	// The link may close before Connect() has returned, on this thread or another.
	auto link = transport_.Connect(address, *this, options_);
	{
		std::lock_guard<std::mutex> guard(mutex_);
		dialling_.clear();
		if (!closed_while_dialling_) {
			dialled_[address] = link;
		}
	}
	SendMessage(*link, MakeHello());
	return link;
}

bool Node::IsOpen(const std::string &address, const Link &link) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto dialled = dialled_.find(address);
	if (dialled != dialled_.end()) {
		return dialled->second.get() == &link;
	}
	auto alias = aliases_.find(address);
	return alias != aliases_.end() && alias->second.get() == &link;
}

void Node::AddAlias(const std::string &name, std::shared_ptr<Link> link) {
	std::lock_guard<std::mutex> guard(mutex_);
	aliases_[name] = std::move(link);
}

void Node::RemoveAlias(const std::string &name) {
	std::lock_guard<std::mutex> guard(mutex_);
	aliases_.erase(name);
}

std::string Node::Listen(const std::string &address) {
	listener_ = transport_.Listen(address, *this);
	return listener_->Address();
}

void Node::Stop() {
	std::vector<std::shared_ptr<Link>> links;
	{
		// Whoever dials now ends that first: afterwards no link is added.
		std::lock_guard<std::mutex> dial_guard(dial_mutex_);
		std::lock_guard<std::mutex> guard(mutex_);
		stopped_ = true;
		for (auto &entry : dialled_) {
			links.push_back(entry.second);
		}
	}
	for (auto &link : links) {
		link->Close();
	}
	links.clear();
	if (listener_) {
		listener_->Stop();
	}
	std::unique_lock<std::mutex> guard(mutex_);
	all_closed_.wait(guard, [&]() { return dialled_.empty() && closing_ == 0; });
}

void Node::Greet(Link &link, const wire::Message &message) {
	auto own = MakeHello();
	auto &theirs = message.hello();
	if (theirs.protocol() == PROTOCOL_VERSION && theirs.engine_version() == own.hello().engine_version()) {
		wire::Message welcome;
		*welcome.mutable_welcome() = own.hello();
		SendMessage(link, welcome);
		return;
	}
	wire::Message refusal;
	refusal.mutable_refusal()->set_message("versions differ: " + DescribeVersion(own.hello()) + " there, " +
										   DescribeVersion(theirs) + " here; use the same version everywhere");
	SendMessage(link, refusal);
	link.Close();
}

void Node::OnFrame(Link &link, Frame frame) {
	wire::Message message;
	if (!message.ParseFromString(frame.header)) {
		link.Close();
		return;
	}
	auto began = std::chrono::steady_clock::now();
	Handle(link, message, std::move(frame.body));
	auto micros = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
	messages_.Count(message, static_cast<uint64_t>(micros.count()));
}

void Node::Handle(Link &link, const wire::Message &message, SharedBytes body) {
	if (message.has_hello()) {
		Greet(link, message);
		return;
	}
	if (message.has_welcome()) {
		std::lock_guard<std::mutex> guard(mutex_);
		answered_.insert(&link);
		return;
	}
	if (message.has_refusal()) {
		std::lock_guard<std::mutex> guard(mutex_);
		refusals_[&link] = message.refusal().message();
		return;
	}
	if (exchange_.OnMessage(link, message, std::move(body))) {
		return;
	}
	control_.OnControl(link.shared_from_this(), message);
}

void Node::OnClosed(Link &link, const std::string &reason) {
	string why = reason;
	auto &address = link.PeerAddress();
	std::shared_ptr<Link> keep_alive;
	bool had_answered;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		closing_++;
		had_answered = answered_.erase(&link) > 0;
		auto refusal = refusals_.find(&link);
		if (refusal != refusals_.end()) {
			why = refusal->second;
			refusals_.erase(refusal);
		}
		auto entry = dialled_.find(address);
		if (entry != dialled_.end() && entry->second.get() == &link) {
			keep_alive = std::move(entry->second);
			dialled_.erase(entry);
		} else if (dialling_ == address) {
			closed_while_dialling_ = true;
		}
	}
	// The query first: it knows best what the loss means, and its error is the one that is reported.
	control_.OnLinkLost(link, why, had_answered);
	exchange_.OnLinkClosed(link, why, had_answered);
	std::lock_guard<std::mutex> guard(mutex_);
	closing_--;
	all_closed_.notify_all();
}

} // namespace skein
