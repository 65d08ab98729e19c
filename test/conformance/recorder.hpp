#pragma once

#include "transport/transport.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace skein {

//! How long a test waits for something that must happen.
constexpr std::chrono::seconds TEST_DEADLINE{60};

//! `size` bytes that depend on `seed`, owned.
SharedBytes MakeBody(size_t size, uint64_t seed);
//! A hash of the bytes.
uint64_t Checksum(const SharedBytes &bytes);

//! A handler that keeps what it gets and checks what every transport promises: one call at a time for a link, none
//! after OnClosed(), aligned bodies. Thread-safe.
class Recorder final : public LinkHandler {
public:
	struct Received {
		std::string header;
		size_t body_size;
		uint64_t body_checksum;
	};

	Recorder() = default;
	//! `on_frame` runs for every frame after it was recorded.
	explicit Recorder(std::function<void(Link &, const Frame &)> on_frame);
	//! Fails the test if a promise was broken.
	~Recorder() override;

	void OnFrame(Link &link, Frame frame) override;
	void OnClosed(Link &link, const std::string &reason) override;

	//! These wait until it has happened; false if it has not by the deadline.
	bool WaitForFrames(size_t count);
	bool WaitForLinks(size_t count);
	bool WaitForClosed(size_t count);

	//! In the order of arrival, over all links.
	std::vector<Received> Frames();
	size_t FrameCount();
	//! Why links were closed, in the order in which they were.
	std::vector<std::string> Reasons();
	//! Links that have sent a frame and are still open.
	std::vector<std::shared_ptr<Link>> OpenLinks();

private:
	bool WaitFor(const std::function<bool()> &condition);
	void EnterLocked(Link &link);

	const std::function<void(Link &, const Frame &)> on_frame_;
	std::mutex lock_;
	std::condition_variable changed_;
	std::vector<Received> frames_;
	std::vector<std::string> reasons_;
	std::map<Link *, std::shared_ptr<Link>> open_;
	std::vector<std::shared_ptr<Link>> closed_;
	//! Links whose handler is running.
	std::map<Link *, int> running_;
	size_t links_ = 0;
	std::vector<std::string> broken_promises_;
};

} // namespace skein
