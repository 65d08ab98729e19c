#pragma once

#include "transport/grpc/host_port.hpp"
#include "transport/transport.hpp"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

namespace skein {

//! A gRPC stream as a link sees it: the same operations at either end.
//!
//! Each operation ends with its tag in the completion queue. At most one of Start(), Write() and Finish() is under way
//! at a time, and at most one of Accepted() and Read(). Cancel() may be called at any time from any thread.
class GrpcCall {
public:
	virtual ~GrpcCall() = default;
	//! Sends what opens the stream at this end.
	virtual void Start(void *tag) = 0;
	//! Waits for the peer to have opened it too. False if there is nothing to wait for.
	virtual bool Accepted(void *tag) = 0;
	//! After Accepted() has ended: whether a Skein node is at the other end.
	virtual bool PeerIsSkein() = 0;
	virtual void Read(grpc::ByteBuffer *message, void *tag) = 0;
	//! With `last` no message follows.
	virtual void Write(const grpc::ByteBuffer &message, bool last, void *tag) = 0;
	//! Ends the call, after the last read and write.
	virtual void Finish(void *tag) = 0;
	virtual void Cancel() = 0;
	//! After Finish() has ended: in one line why the call failed, as far as this end can know; empty if it did not say.
	virtual std::string Failure() = 0;
};

//! The end that has opened a stream.
class GrpcClientCall final : public GrpcCall {
public:
	GrpcClientCall(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue &queue);

	void Start(void *tag) override;
	bool Accepted(void *tag) override;
	bool PeerIsSkein() override;
	void Read(grpc::ByteBuffer *message, void *tag) override;
	void Write(const grpc::ByteBuffer &message, bool last, void *tag) override;
	void Finish(void *tag) override;
	void Cancel() override;
	std::string Failure() override;

private:
	const std::shared_ptr<grpc::Channel> channel_;
	grpc::ClientContext context_;
	grpc::GenericStub stub_;
	std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
	grpc::Status status_;
};

//! The end that accepts a stream. Must have arrived, by RequestCall(), before it is used as a call.
class GrpcServerCall final : public GrpcCall {
public:
	GrpcServerCall();

	void Request(grpc::AsyncGenericService &service, grpc::ServerCompletionQueue &queue, void *tag);
	//! Whether what has arrived is a link; otherwise only Refuse() may follow.
	bool IsLink() const;
	void Refuse(void *tag);
	//! Who has opened the stream, as host:port.
	std::string PeerAddress() const;

	void Start(void *tag) override;
	bool Accepted(void *tag) override;
	bool PeerIsSkein() override;
	void Read(grpc::ByteBuffer *message, void *tag) override;
	void Write(const grpc::ByteBuffer &message, bool last, void *tag) override;
	void Finish(void *tag) override;
	void Cancel() override;
	std::string Failure() override;

private:
	grpc::GenericServerContext context_;
	grpc::GenericServerAsyncReaderWriter stream_;
};

} // namespace skein
