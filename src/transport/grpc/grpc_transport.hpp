#pragma once

#include "transport/transport.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace skein {

struct GrpcTransportOptions {
	//! As LinkOptions::keepalive, for accepted links.
	std::chrono::milliseconds keepalive{4000};
	//! How long a closed link waits for its peer to take the last frames, and so the most that Listener::Stop() takes.
	std::chrono::milliseconds close_timeout{2000};
	//! Threads for links made here, and as many for each listener; 0: half the cores, at least 1 and at most 8.
	size_t threads = 0;
};

//! Links over gRPC: one bidirectional stream, on a TCP connection of its own, per link.
//!
//! Addresses are `host:port`, as `worker-1:4200`, `127.0.0.1:4200` or `[::1]:4200`. No proxy is used.
//! Threads: handlers run on the transport's threads, which also read from and write to the network.
//! A body is not copied when sent; a received one is copied once into place, aligned to 16 bytes.
//! The destructor aborts the links that are still open, and returns when their OnClosed() has.
//! gRPC's own log is silent unless the environment sets GRPC_VERBOSITY: what matters is in OnClosed()'s reason.
class GrpcTransport final : public Transport {
public:
	explicit GrpcTransport(const GrpcTransportOptions &options = {});
	~GrpcTransport() override;

	std::shared_ptr<Link> Connect(const std::string &address, LinkHandler &handler,
								  const LinkOptions &options) override;
	std::unique_ptr<Listener> Listen(const std::string &address, LinkHandler &handler) override;

private:
	class Client;

	const GrpcTransportOptions options_;
	//! The connecting side.
	const std::unique_ptr<Client> client_;
};

} // namespace skein
