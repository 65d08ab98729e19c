#pragma once

#include "transport/grpc/completion_threads.hpp"
#include "transport/grpc/grpc_link_set.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "transport/transport.hpp"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <memory>
#include <mutex>
#include <string>

namespace skein {

//! A gRPC server whose only method opens a link. Thread-safe.
class GrpcListener final : public Listener {
public:
	//! Listens from now on; throws as Transport::Listen() does. `options.threads` must not be 0.
	GrpcListener(const std::string &address, LinkHandler &handler, const GrpcTransportOptions &options);
	~GrpcListener() override;

	const std::string &Address() const override;
	void Stop() override;

private:
	//! Waits for one call to arrive.
	class Arrival;

	void Await();
	void Open(std::unique_ptr<GrpcServerCall> call);

	LinkHandler &handler_;
	const GrpcTransportOptions options_;
	std::string address_;

	GrpcLinkSet links_;
	grpc::AsyncGenericService service_;
	std::unique_ptr<grpc::Server> server_;
	//! Owned by threads_.
	grpc::ServerCompletionQueue *queue_ = nullptr;
	std::unique_ptr<CompletionThreads> threads_;

	//! Held for as long as one caller stops, so that another one waits.
	std::mutex stop_lock_;
	bool stopped_ = false;
};

} // namespace skein
