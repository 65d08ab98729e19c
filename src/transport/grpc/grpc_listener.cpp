#include "transport/grpc/grpc_listener.hpp"

#include "transport/grpc/grpc_channel.hpp"
#include "transport/grpc/host_port.hpp"

#include "duckdb/common/exception.hpp"

#include <grpcpp/security/server_credentials.h>

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace skein {

namespace {

//! Why `address` cannot be bound: gRPC does not tell.
std::string ExplainBindFailure(const HostPort &address) {
	addrinfo hints{};
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE;
	addrinfo *found = nullptr;
	auto code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
	if (code != 0) {
		return gai_strerror(code);
	}
	std::string reason = "it cannot be bound";
	for (auto candidate = found; candidate; candidate = candidate->ai_next) {
		auto socket_fd = socket(candidate->ai_family, candidate->ai_socktype, candidate->ai_protocol);
		if (socket_fd < 0) {
			continue;
		}
		if (bind(socket_fd, candidate->ai_addr, candidate->ai_addrlen) != 0) {
			reason = std::strerror(errno);
		}
		close(socket_fd);
	}
	freeaddrinfo(found);
	return reason;
}

} // namespace

//! Deletes itself: it is handed from one operation to the next.
class GrpcListener::Arrival final : public Completion {
public:
	explicit Arrival(GrpcListener &listener) : listener_(listener), call_(std::make_unique<GrpcServerCall>()) {
		call_->Request(listener.service_, *listener.queue_, Tag());
	}

private:
	void Done(bool ok) override {
		if (!ok || refused_) {
			delete this;
			return;
		}
		listener_.Await();
		if (!call_->IsLink()) {
			refused_ = true;
			call_->Refuse(Tag());
			return;
		}
		listener_.Open(std::move(call_));
		delete this;
	}

	GrpcListener &listener_;
	std::unique_ptr<GrpcServerCall> call_;
	bool refused_ = false;
};

GrpcListener::GrpcListener(const std::string &address, LinkHandler &handler, const GrpcTransportOptions &options)
	: handler_(handler), options_(options) {
	auto wanted = HostPort::Parse(address);
	grpc::ServerBuilder builder;
	SetUpGrpcServer(builder, options.keepalive);
	int port = 0;
	builder.AddListeningPort(wanted.ToString(), grpc::InsecureServerCredentials(), &port);
	builder.RegisterAsyncGenericService(&service_);
	auto queue = builder.AddCompletionQueue();
	queue_ = queue.get();
	server_ = builder.BuildAndStart();
	threads_ = std::make_unique<CompletionThreads>(std::move(queue), options.threads);
	if (!server_) {
		throw duckdb::IOException("Cannot listen at %s: %s", address, ExplainBindFailure(wanted));
	}
	wanted.port = static_cast<uint16_t>(port);
	address_ = wanted.ToString();
	Await();
}

GrpcListener::~GrpcListener() {
	Stop();
}

const std::string &GrpcListener::Address() const {
	return address_;
}

void GrpcListener::Await() {
	new Arrival(*this);
}

void GrpcListener::Open(std::unique_ptr<GrpcServerCall> call) {
	auto peer = call->PeerAddress();
	GrpcLink::Timeouts timeouts{std::chrono::milliseconds::zero(), options_.close_timeout};
	auto link = std::make_shared<GrpcLink>(std::move(call), *queue_, std::move(peer), handler_, timeouts, links_);
	if (links_.Add(link)) {
		link->Open();
	}
}

void GrpcListener::Stop() {
	std::lock_guard<std::mutex> guard(stop_lock_);
	if (std::exchange(stopped_, true)) {
		return;
	}
	if (threads_->IncludeCaller()) {
		throw duckdb::InternalException("Listener::Stop() called from a handler");
	}
	links_.Seal();
	links_.CloseAll();
	links_.WaitUntilEmpty();
	// What is left are connections without a link and calls that came too late.
	server_->Shutdown(std::chrono::system_clock::now());
	threads_.reset();
	server_.reset();
}

} // namespace skein
