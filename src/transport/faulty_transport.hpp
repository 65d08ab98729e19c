#pragma once

#include "transport/transport.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skein {

//! What goes wrong on a FaultyTransport. The same seed gives the n-th link the same faults.
struct FaultOptions {
	uint64_t seed = 0;
	//! Every frame, and Close(), waits up to so long before it is sent. Frames of one link keep their order; those of
	//! different links overtake each other.
	std::chrono::microseconds max_delay{0};
	//! A link is cut when it has received between 1 and so many frames at one end: that frame and all later ones are
	//! lost, and both ends get a reason.
	std::optional<size_t> cut_within_frames;
	//! So many of the first connects are refused.
	size_t refused_connects = 0;
};

//! A test double: another transport with faults.
//!
//! Threads: one of its own, which sends what is due; it also runs handlers if the inner transport does so in Send().
//! A body is handed over as the inner transport does. The inner transport must outlive it.
class FaultyTransport final : public Transport {
public:
	FaultyTransport(Transport &inner, const FaultOptions &options);
	~FaultyTransport() override;

	std::shared_ptr<Link> Connect(const std::string &address, LinkHandler &handler,
								  const LinkOptions &options) override;
	std::unique_ptr<Listener> Listen(const std::string &address, LinkHandler &handler) override;

private:
	class Delayer;
	class Faults;
	class FaultyLink;
	class RefusedLink;
	class FaultyListener;

	Transport &inner_;
	const std::shared_ptr<Faults> faults_;
};

} // namespace skein
