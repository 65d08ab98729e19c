#include "recorder.hpp"

#include "gtest/gtest.h"

#include <string_view>

namespace skein {

SharedBytes MakeBody(size_t size, uint64_t seed) {
	auto owner = std::make_shared<std::vector<uint8_t>>(size);
	auto state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (auto &byte : *owner) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		byte = static_cast<uint8_t>(state >> 56);
	}
	auto data = owner->data();
	return {std::move(owner), data, size};
}

uint64_t Checksum(const SharedBytes &bytes) {
	return std::hash<std::string_view>()({reinterpret_cast<const char *>(bytes.data), bytes.size});
}

Recorder::Recorder(std::function<void(Link &, const Frame &)> on_frame) : on_frame_(std::move(on_frame)) {
}

Recorder::~Recorder() {
	for (auto &promise : broken_promises_) {
		ADD_FAILURE() << promise;
	}
}

void Recorder::EnterLocked(Link &link) {
	if (++running_[&link] > 1) {
		broken_promises_.push_back("two calls for one link at a time");
	}
}

void Recorder::OnFrame(Link &link, Frame frame) {
	Received received{frame.header, frame.body.size, Checksum(frame.body)};
	{
		std::lock_guard<std::mutex> guard(lock_);
		EnterLocked(link);
		if (reinterpret_cast<uintptr_t>(frame.body.data) % 16 != 0) {
			broken_promises_.push_back("a body that is not aligned to 16 bytes");
		}
		if (open_.emplace(&link, link.shared_from_this()).second) {
			++links_;
		}
	}
	if (on_frame_) {
		try {
			on_frame_(link, frame);
		} catch (...) {
			std::lock_guard<std::mutex> guard(lock_);
			--running_[&link];
			throw;
		}
	}
	std::lock_guard<std::mutex> guard(lock_);
	frames_.push_back(std::move(received));
	--running_[&link];
	changed_.notify_all();
}

void Recorder::OnClosed(Link &link, const std::string &reason) {
	std::lock_guard<std::mutex> guard(lock_);
	EnterLocked(link);
	// Stays entered: any later call for this link breaks the promise. Kept, so that no other link gets its place in
	// memory.
	closed_.push_back(link.shared_from_this());
	open_.erase(&link);
	if (reason.find('\n') != std::string::npos) {
		broken_promises_.push_back("a reason of more than one line");
	}
	reasons_.push_back(reason);
	changed_.notify_all();
}

bool Recorder::WaitFor(const std::function<bool()> &condition) {
	std::unique_lock<std::mutex> guard(lock_);
	return changed_.wait_for(guard, TEST_DEADLINE, condition);
}

bool Recorder::WaitForFrames(size_t count) {
	return WaitFor([&] { return frames_.size() >= count; });
}

bool Recorder::WaitForLinks(size_t count) {
	return WaitFor([&] { return links_ >= count; });
}

bool Recorder::WaitForClosed(size_t count) {
	return WaitFor([&] { return reasons_.size() >= count; });
}

std::vector<Recorder::Received> Recorder::Frames() {
	std::lock_guard<std::mutex> guard(lock_);
	return frames_;
}

size_t Recorder::FrameCount() {
	std::lock_guard<std::mutex> guard(lock_);
	return frames_.size();
}

std::vector<std::string> Recorder::Reasons() {
	std::lock_guard<std::mutex> guard(lock_);
	return reasons_;
}

std::vector<std::shared_ptr<Link>> Recorder::OpenLinks() {
	std::lock_guard<std::mutex> guard(lock_);
	std::vector<std::shared_ptr<Link>> result;
	for (auto &entry : open_) {
		result.push_back(entry.second);
	}
	return result;
}

} // namespace skein
