#pragma once

#include "transport/grpc/host_port.hpp"

#include <grpcpp/channel.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>

namespace skein {

//! A TCP connection to `address`, made when it is first used and shared with nobody.
std::shared_ptr<grpc::Channel> MakeGrpcChannel(const HostPort &address, std::chrono::milliseconds keepalive);

//! Gives a server the settings that match MakeGrpcChannel()'s.
void SetUpGrpcServer(grpc::ServerBuilder &builder, std::chrono::milliseconds keepalive);

//! Starts gRPC for the rest of the process; to be called before anything else of gRPC. Thread-safe.
//! Silences its log, which goes to standard error of whatever program we are loaded into, unless GRPC_VERBOSITY is set.
//! gRPC is never shut down: that can block for ten seconds, waiting for a peer that stands still.
void StartGrpc();

} // namespace skein
