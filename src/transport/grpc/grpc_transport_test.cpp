//! What is special about this transport: addresses, and peers that are not what they should be. The rest:
//! test/conformance.

#include "transport/grpc/grpc_transport.hpp"

#include "duckdb/common/exception.hpp"
#include "gtest/gtest.h"

#include <arpa/inet.h>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace skein {

namespace {

//! Waits for the one OnClosed().
class Closed final : public LinkHandler {
public:
	void OnFrame(Link &link, Frame frame) override {
		std::lock_guard<std::mutex> guard(lock_);
		frames_++;
		changed_.notify_all();
	}
	void OnClosed(Link &link, const std::string &reason) override {
		std::lock_guard<std::mutex> guard(lock_);
		closed_ = true;
		reason_ = reason;
		changed_.notify_all();
	}
	std::string WaitForReason() {
		std::unique_lock<std::mutex> guard(lock_);
		EXPECT_TRUE(changed_.wait_for(guard, std::chrono::seconds(60), [&] { return closed_; }));
		return reason_;
	}
	void WaitForFrame() {
		std::unique_lock<std::mutex> guard(lock_);
		EXPECT_TRUE(changed_.wait_for(guard, std::chrono::seconds(60), [&] { return frames_ > 0; }));
	}

private:
	std::mutex lock_;
	std::condition_variable changed_;
	size_t frames_ = 0;
	bool closed_ = false;
	std::string reason_;
};

//! A TCP server on a port of its own that answers whoever connects with `answer`, and then waits.
class RawServer {
public:
	explicit RawServer(std::string answer) : answer_(std::move(answer)) {
		fd_ = socket(AF_INET, SOCK_STREAM, 0);
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t size = sizeof(address);
		EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr *>(&address), size), 0);
		EXPECT_EQ(listen(fd_, 10), 0);
		EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr *>(&address), &size), 0);
		address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
		thread_ = std::thread([this] { Serve(); });
	}
	~RawServer() {
		shutdown(fd_, SHUT_RDWR);
		thread_.join();
		close(fd_);
	}
	const std::string &Address() const {
		return address_;
	}

private:
	void Serve() {
		std::vector<int> clients;
		int client;
		while ((client = accept(fd_, nullptr, nullptr)) >= 0) {
			clients.push_back(client);
			if (!answer_.empty()) {
				char request[64];
				EXPECT_GT(read(client, request, sizeof(request)), 0);
				EXPECT_EQ(write(client, answer_.data(), answer_.size()), static_cast<ssize_t>(answer_.size()));
			}
		}
		for (auto open : clients) {
			close(open);
		}
	}

	const std::string answer_;
	int fd_ = -1;
	std::string address_;
	std::thread thread_;
};

std::string ReasonOfConnecting(const std::string &address, int timeout_ms = 5000) {
	GrpcTransport transport;
	Closed closed;
	LinkOptions options;
	options.connect_timeout = std::chrono::milliseconds(timeout_ms);
	auto start = std::chrono::steady_clock::now();
	auto link = transport.Connect(address, closed, options);
	link->Send({"hello", {}});
	auto reason = closed.WaitForReason();
	EXPECT_LT(std::chrono::steady_clock::now() - start, options.connect_timeout + std::chrono::seconds(2));
	return reason;
}

} // namespace

TEST(GrpcTransport, RefusesMalformedAddresses) {
	GrpcTransport transport;
	Closed handler;
	for (std::string address : {"", "abc", "host:", "host:99999"}) {
		EXPECT_THROW(transport.Connect(address, handler, {}), duckdb::InvalidInputException);
		EXPECT_THROW(transport.Listen(address, handler), duckdb::InvalidInputException);
	}
	EXPECT_THROW(transport.Connect("127.0.0.1:0", handler, {}), duckdb::InvalidInputException);
}

TEST(GrpcTransport, SaysWhyItCannotListen) {
	GrpcTransport transport;
	Closed handler;
	auto listener = transport.Listen("127.0.0.1:0", handler);
	auto expect_failure = [&](const std::string &address, const std::string &why) {
		try {
			transport.Listen(address, handler);
			ADD_FAILURE() << address;
		} catch (duckdb::IOException &ex) {
			EXPECT_NE(std::string(ex.what()).find("Cannot listen at " + address + ": " + why), std::string::npos)
				<< ex.what();
		}
	};
	expect_failure(listener->Address(), "Address already in use");
	expect_failure("192.0.2.1:4200", "Cannot assign requested address");
	expect_failure("no-such-host.invalid:4200", "");
}

TEST(GrpcTransport, SaysThatNobodyListens) {
	std::string address;
	{
		RawServer server("");
		address = server.Address();
	}
	EXPECT_EQ(ReasonOfConnecting(address), "cannot connect to " + address + ": connection refused");
}

TEST(GrpcTransport, SaysThatAHostIsUnknown) {
	auto reason = ReasonOfConnecting("no-such-host.invalid:4200");
	EXPECT_EQ(reason.find("cannot connect to no-such-host.invalid:4200: "), 0u) << reason;
}

TEST(GrpcTransport, SaysThatAServerSaysNothing) {
	RawServer server("");
	EXPECT_EQ(ReasonOfConnecting(server.Address(), 300),
			  "cannot connect to " + server.Address() + ": no answer within 300 ms");
}

TEST(GrpcTransport, SaysThatAServerSpeaksHttp1) {
	RawServer server("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
	EXPECT_EQ(ReasonOfConnecting(server.Address()),
			  "cannot connect to " + server.Address() + ": an HTTP/1 server is there, but no Skein worker");
}

TEST(GrpcTransport, SaysThatAGrpcServerIsNoWorker) {
	grpc::CallbackGenericService refuses_all;
	grpc::ServerBuilder builder;
	int port = 0;
	builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
	builder.RegisterCallbackGenericService(&refuses_all);
	auto server = builder.BuildAndStart();
	auto address = "127.0.0.1:" + std::to_string(port);
	EXPECT_EQ(ReasonOfConnecting(address),
			  "cannot connect to " + address + ": a gRPC server is there, but no Skein worker of this version");
	server->Shutdown();
}

TEST(GrpcTransport, AWorkerRefusesOtherCalls) {
	GrpcTransport transport;
	Closed handler;
	auto listener = transport.Listen("127.0.0.1:0", handler);
	grpc::GenericStub stub(grpc::CreateChannel(listener->Address(), grpc::InsecureChannelCredentials()));
	grpc::ClientContext context;
	grpc::CompletionQueue queue;
	grpc::Slice slice("hello");
	auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::ByteBuffer(&slice, 1), &queue);
	call->StartCall();
	grpc::ByteBuffer response;
	grpc::Status status;
	call->Finish(&response, &status, nullptr);
	void *tag;
	bool ok;
	ASSERT_TRUE(queue.Next(&tag, &ok));
	EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
	queue.Shutdown();
	EXPECT_FALSE(queue.Next(&tag, &ok));
}

TEST(GrpcTransport, ADestroyedTransportAbortsItsLinks) {
	auto transport = std::make_unique<GrpcTransport>();
	Closed server, client;
	GrpcTransport server_transport;
	auto listener = server_transport.Listen("127.0.0.1:0", server);
	auto link = transport->Connect(listener->Address(), client, {});
	link->Send({"hello", {}});
	server.WaitForFrame();
	transport.reset();
	EXPECT_NE(client.WaitForReason(), "");
	EXPECT_EQ(server.WaitForReason().find("lost the connection to 127.0.0.1:"), 0u);
	link->Send({"into the void", {}});
	link->Close();
}

TEST(GrpcTransport, AddressesOfSeveralKindsWork) {
	GrpcTransport transport;
	for (auto address : {"127.0.0.1:0", "localhost:0", "0.0.0.0:0", "[::1]:0"}) {
		Closed server, client;
		std::unique_ptr<Listener> listener;
		try {
			listener = transport.Listen(address, server);
		} catch (duckdb::IOException &) {
			// This machine has no IPv6.
			EXPECT_EQ(std::string(address), "[::1]:0");
			continue;
		}
		auto link = transport.Connect(listener->Address(), client, {});
		EXPECT_EQ(link->PeerAddress(), listener->Address());
		link->Send({"hello", {}});
		server.WaitForFrame();
		link->Close();
		EXPECT_EQ(client.WaitForReason(), "");
	}
}

} // namespace skein
