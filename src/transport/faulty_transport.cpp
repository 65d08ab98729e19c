#include "transport/faulty_transport.hpp"

#include "duckdb/common/exception.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace skein {

using Clock = std::chrono::steady_clock;

//! Runs jobs when they are due, in the order in which they are; jobs due at the same time in the order of Add().
class FaultyTransport::Delayer {
public:
	Delayer() : thread_([this] { Run(); }) {
	}

	//! Runs what is left at once.
	~Delayer() {
		{
			std::lock_guard<std::mutex> guard(lock_);
			stopped_ = true;
		}
		changed_.notify_all();
		thread_.join();
	}

	void Add(Clock::time_point due, std::function<void()> job) {
		{
			std::lock_guard<std::mutex> guard(lock_);
			jobs_.emplace(std::make_pair(due, added_++), std::move(job));
		}
		changed_.notify_all();
	}

private:
	void Run() {
		std::unique_lock<std::mutex> guard(lock_);
		while (!stopped_ || !jobs_.empty()) {
			if (jobs_.empty()) {
				changed_.wait(guard);
				continue;
			}
			auto next = jobs_.begin();
			if (!stopped_ && next->first.first > Clock::now()) {
				auto due = next->first.first;
				changed_.wait_until(guard, due);
				continue;
			}
			auto job = std::move(next->second);
			jobs_.erase(next);
			guard.unlock();
			job();
			job = nullptr;
			guard.lock();
		}
	}

	std::mutex lock_;
	std::condition_variable changed_;
	std::map<std::pair<Clock::time_point, uint64_t>, std::function<void()>> jobs_;
	uint64_t added_ = 0;
	bool stopped_ = false;
	std::thread thread_;
};

//! What the links of one FaultyTransport share.
class FaultyTransport::Faults {
public:
	explicit Faults(const FaultOptions &options) : options(options) {
	}

	//! A source of faults for the next link.
	std::mt19937_64 NextLink() {
		return std::mt19937_64(options.seed * 1000003 + links_++);
	}

	bool RefuseNext() {
		return connects_++ < options.refused_connects;
	}

	const FaultOptions options;
	Delayer delayer;

private:
	std::atomic<uint64_t> links_{0};
	std::atomic<size_t> connects_{0};
};

//! The outside of a link of the inner transport, and its handler on the inside.
class FaultyTransport::FaultyLink final : public Link, public LinkHandler {
public:
	FaultyLink(Faults &faults, std::string peer_address, LinkHandler &handler)
		: faults_(faults), peer_address_(std::move(peer_address)), handler_(handler), random_(faults.NextLink()) {
		if (faults.options.cut_within_frames) {
			frames_until_cut_ = 1 + random_() % *faults.options.cut_within_frames;
		}
	}

	//! Keeps this link until OnClosed(). The first of several calls counts: the inner link may call back before its
	//! maker has it.
	void SetInner(std::shared_ptr<Link> inner) {
		std::lock_guard<std::mutex> guard(lock_);
		if (!closed_ && !inner_) {
			inner_ = std::move(inner);
			self_ = shared_from_this();
		}
	}

	void Send(Frame frame) override {
		if (frame.header.size() > Frame::MAX_HEADER_BYTES) {
			throw duckdb::InternalException("A frame's header has %llu bytes, more than is allowed",
											frame.header.size());
		}
		auto shared = std::make_shared<Frame>(std::move(frame));
		Delay([shared](Link &inner) { inner.Send(std::move(*shared)); });
	}

	void Close() override {
		{
			std::lock_guard<std::mutex> guard(lock_);
			closing_ = true;
		}
		Delay([](Link &inner) { inner.Close(); });
	}

	const std::string &PeerAddress() const override {
		return peer_address_;
	}

	PeerPlace Place() const override {
		std::lock_guard<std::mutex> guard(lock_);
		return inner_ ? inner_->Place() : PeerPlace::ELSEWHERE;
	}

	void OnFrame(Link &inner, Frame frame) override {
		SetInner(inner.shared_from_this());
		{
			std::lock_guard<std::mutex> guard(lock_);
			if (closing_) {
				return;
			}
			if (frames_until_cut_ && --*frames_until_cut_ == 0) {
				throw duckdb::IOException("lost the connection to %s: it was cut", peer_address_);
			}
		}
		handler_.OnFrame(*this, std::move(frame));
	}

	void OnClosed(Link &inner, const std::string &reason) override {
		handler_.OnClosed(*this, reason);
		std::shared_ptr<Link> self;
		std::lock_guard<std::mutex> guard(lock_);
		closed_ = true;
		inner_.reset();
		self = std::move(self_);
	}

private:
	void Delay(std::function<void(Link &)> action) {
		std::lock_guard<std::mutex> guard(lock_);
		if (!inner_) {
			return;
		}
		auto max_us = faults_.options.max_delay.count();
		auto delay = std::chrono::microseconds(max_us > 0 ? random_() % max_us : 0);
		last_due_ = std::max(last_due_, Clock::now() + delay);
		faults_.delayer.Add(last_due_, [inner = inner_, action = std::move(action)] { action(*inner); });
	}

	Faults &faults_;
	const std::string peer_address_;
	LinkHandler &handler_;

	mutable std::mutex lock_;
	std::mt19937_64 random_;
	std::optional<size_t> frames_until_cut_;
	//! Null before SetInner() and once the link is gone.
	std::shared_ptr<Link> inner_;
	std::shared_ptr<Link> self_;
	Clock::time_point last_due_;
	bool closing_ = false;
	bool closed_ = false;
};

//! A link that has never been open.
class FaultyTransport::RefusedLink final : public Link {
public:
	explicit RefusedLink(std::string peer_address) : peer_address_(std::move(peer_address)) {
	}
	void Send(Frame frame) override {
	}
	void Close() override {
	}
	const std::string &PeerAddress() const override {
		return peer_address_;
	}

private:
	const std::string peer_address_;
};

//! Puts a FaultyLink around each accepted link when it is first heard of.
class FaultyTransport::FaultyListener final : public Listener, public LinkHandler {
public:
	FaultyListener(Transport &inner, std::shared_ptr<Faults> faults, const std::string &address, LinkHandler &handler)
		: faults_(std::move(faults)), handler_(handler), inner_(inner.Listen(address, *this)) {
	}

	~FaultyListener() override {
		Stop();
	}

	const std::string &Address() const override {
		return inner_->Address();
	}

	void Stop() override {
		// Known links are closed behind what they have delayed, the others by the inner listener.
		std::map<Link *, std::shared_ptr<FaultyLink>> known;
		{
			std::lock_guard<std::mutex> guard(lock_);
			known = links_;
		}
		for (auto &entry : known) {
			entry.second->Close();
		}
		std::unique_lock<std::mutex> guard(lock_);
		gone_.wait(guard, [&] {
			return std::none_of(known.begin(), known.end(), [&](auto &entry) { return links_.count(entry.first); });
		});
		guard.unlock();
		inner_->Stop();
	}

	void OnFrame(Link &inner, Frame frame) override {
		Outside(inner)->OnFrame(inner, std::move(frame));
	}

	void OnClosed(Link &inner, const std::string &reason) override {
		Outside(inner)->OnClosed(inner, reason);
		std::lock_guard<std::mutex> guard(lock_);
		links_.erase(&inner);
		gone_.notify_all();
	}

private:
	std::shared_ptr<FaultyLink> Outside(Link &inner) {
		std::lock_guard<std::mutex> guard(lock_);
		auto &link = links_[&inner];
		if (!link) {
			link = std::make_shared<FaultyLink>(*faults_, inner.PeerAddress(), handler_);
		}
		return link;
	}

	const std::shared_ptr<Faults> faults_;
	LinkHandler &handler_;
	std::mutex lock_;
	std::condition_variable gone_;
	std::map<Link *, std::shared_ptr<FaultyLink>> links_;
	//! Last: it may call this handler at once.
	const std::unique_ptr<Listener> inner_;
};

FaultyTransport::FaultyTransport(Transport &inner, const FaultOptions &options)
	: inner_(inner), faults_(std::make_shared<Faults>(options)) {
}

FaultyTransport::~FaultyTransport() = default;

std::shared_ptr<Link> FaultyTransport::Connect(const std::string &address, LinkHandler &handler,
											   const LinkOptions &options) {
	if (faults_->RefuseNext()) {
		auto link = std::make_shared<RefusedLink>(address);
		faults_->delayer.Add(Clock::now(), [link, &handler] {
			handler.OnClosed(*link, "cannot connect to " + link->PeerAddress() + ": refused");
		});
		return link;
	}
	auto link = std::make_shared<FaultyLink>(*faults_, address, handler);
	link->SetInner(inner_.Connect(address, *link, options));
	return link;
}

std::unique_ptr<Listener> FaultyTransport::Listen(const std::string &address, LinkHandler &handler) {
	return std::make_unique<FaultyListener>(inner_, faults_, address, handler);
}

} // namespace skein
