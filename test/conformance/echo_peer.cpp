//! A node in a process of its own, for tests that kill it: sends every frame back to where it came from.
//!
//!     echo_peer              listens, and prints its address as a line
//!     echo_peer ADDRESS      connects to ADDRESS and sends one frame, "hello"
//!
//! Ends when its standard input does.

#include "transport/grpc/grpc_transport.hpp"

#include <iostream>

namespace {

class Echo final : public skein::LinkHandler {
public:
	void OnFrame(skein::Link &link, skein::Frame frame) override {
		link.Send(std::move(frame));
	}
	void OnClosed(skein::Link &link, const std::string &reason) override {
	}
};

} // namespace

int main(int argc, char **argv) {
	Echo echo;
	skein::GrpcTransport transport;
	std::unique_ptr<skein::Listener> listener;
	std::shared_ptr<skein::Link> link;
	if (argc > 1) {
		link = transport.Connect(argv[1], echo, {});
		link->Send({"hello", {}});
	} else {
		listener = transport.Listen("127.0.0.1:0", echo);
		std::cout << listener->Address() << std::endl;
	}
	while (std::cin.get() != EOF) {
	}
	return 0;
}
