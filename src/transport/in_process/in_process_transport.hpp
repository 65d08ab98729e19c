#pragma once

#include "transport/transport.hpp"

#include <memory>
#include <string>

namespace skein {

//! Links between nodes of one process, found by name.
//!
//! An address is any non-empty name. As with ports, a name that ends in `:0` gets a free number in its place when
//! listened at, so that `127.0.0.1:0` works with every transport.
//!
//! Threads: it has none. Send(), Close(), Connect() and Stop() deliver on the calling thread, unless another one is
//! delivering to that end already, which then goes on with what was added. A call made inside a handler is delivered
//! after the handler has returned, so that handlers never nest.
//! A frame is handed over as it is: its body is not copied. Opening, closing and delivery know no deadline.
class InProcessTransport final : public Transport {
public:
	InProcessTransport();
	~InProcessTransport() override;

	std::shared_ptr<Link> Connect(const std::string &address, LinkHandler &handler,
								  const LinkOptions &options) override;
	std::unique_ptr<Listener> Listen(const std::string &address, LinkHandler &handler) override;

private:
	class Registry;
	class InProcessListener;

	//! The nodes that listen, by name. Shared with the listeners, which take themselves off it.
	const std::shared_ptr<Registry> registry_;
};

} // namespace skein
