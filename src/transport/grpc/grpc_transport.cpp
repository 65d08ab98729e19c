#include "transport/grpc/grpc_transport.hpp"

#include "transport/grpc/completion_threads.hpp"
#include "transport/grpc/grpc_call.hpp"
#include "transport/grpc/grpc_channel.hpp"
#include "transport/grpc/grpc_link_set.hpp"
#include "transport/grpc/grpc_listener.hpp"
#include "transport/grpc/host_port.hpp"

#include "duckdb/common/exception.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

namespace skein {

namespace {

constexpr size_t MIN_THREADS = 1;
constexpr size_t MAX_THREADS = 8;

GrpcTransportOptions WithDefaults(GrpcTransportOptions options) {
	if (options.threads == 0) {
		options.threads = std::clamp<size_t>(std::thread::hardware_concurrency() / 2, MIN_THREADS, MAX_THREADS);
	}
	return options;
}

} // namespace

//! The links made here and the threads they run on, which start with the first link. Thread-safe.
class GrpcTransport::Client {
public:
	explicit Client(const GrpcTransportOptions &options) : options_(options) {
	}

	~Client() {
		links_.Seal();
		links_.AbortAll("the transport was shut down");
		links_.WaitUntilEmpty();
	}

	std::shared_ptr<Link> Connect(const HostPort &address, LinkHandler &handler, const LinkOptions &options) {
		auto &queue = Queue();
		auto call = std::make_unique<GrpcClientCall>(MakeGrpcChannel(address, options.keepalive), queue);
		GrpcLink::Timeouts timeouts{options.connect_timeout, options_.close_timeout};
		auto link = std::make_shared<GrpcLink>(std::move(call), queue, address.ToString(), handler, timeouts, links_);
		links_.Add(link);
		link->Open();
		return link;
	}

private:
	grpc::CompletionQueue &Queue() {
		std::lock_guard<std::mutex> guard(lock_);
		if (!threads_) {
			threads_ = std::make_unique<CompletionThreads>(std::make_unique<grpc::CompletionQueue>(), options_.threads);
		}
		return threads_->Queue();
	}

	const GrpcTransportOptions options_;
	GrpcLinkSet links_;
	std::mutex lock_;
	//! Null until the first link.
	std::unique_ptr<CompletionThreads> threads_;
};

GrpcTransport::GrpcTransport(const GrpcTransportOptions &options)
	: options_(WithDefaults(options)), client_(std::make_unique<Client>(options_)) {
	StartGrpc();
}

GrpcTransport::~GrpcTransport() = default;

std::shared_ptr<Link> GrpcTransport::Connect(const std::string &address, LinkHandler &handler,
											 const LinkOptions &options) {
	auto host_port = HostPort::Parse(address);
	if (host_port.port == 0) {
		throw duckdb::InvalidInputException("\"%s\" is not an address to connect to: port 0 stands for no port",
											address);
	}
	return client_->Connect(host_port, handler, options);
}

std::unique_ptr<Listener> GrpcTransport::Listen(const std::string &address, LinkHandler &handler) {
	return std::make_unique<GrpcListener>(address, handler, options_);
}

} // namespace skein
