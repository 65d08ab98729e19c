#include "transport/grpc/grpc_channel.hpp"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace skein {

namespace {

constexpr int UNLIMITED = -1;
//! What a peer may send ahead on a link before we have read it. Pages are sent against credit, so it only has to cover
//! what is under way on a fast network.
constexpr int WINDOW_BYTES = 8 << 20;
constexpr int MAX_HTTP2_FRAME_BYTES = 1 << 20;
constexpr int SERVER_HANDSHAKE_MS = 10000;

//! Calls `set(name, value)` for what both ends share.
template <class SET>
void SetCommonArguments(std::chrono::milliseconds keepalive, const SET &set) {
	// The next ping a quarter of the time after an answer, and the rest of the time to answer it.
	const auto quarter_ms = static_cast<int>(std::max<int64_t>(keepalive.count() / 4, 1));
	set(GRPC_ARG_KEEPALIVE_TIME_MS, quarter_ms);
	set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3 * quarter_ms);
	set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
	set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
	set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, WINDOW_BYTES);
	set(GRPC_ARG_HTTP2_BDP_PROBE, 0);
	set(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, MAX_HTTP2_FRAME_BYTES);
	set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, UNLIMITED);
	set(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, UNLIMITED);
	set(GRPC_ARG_ENABLE_CHANNELZ, 0);
	set(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0);
}

} // namespace

std::shared_ptr<grpc::Channel> MakeGrpcChannel(const HostPort &address, std::chrono::milliseconds keepalive) {
	grpc::ChannelArguments arguments;
	SetCommonArguments(keepalive, [&](const char *name, int value) { arguments.SetInt(name, value); });
	arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
	// Channels that share connections would share each other's back-off after a failure, too.
	arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
	arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
	// A retry would keep copies of what was sent.
	arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
	return grpc::CreateCustomChannel("dns:///" + address.ToString(), grpc::InsecureChannelCredentials(), arguments);
}

void SetUpGrpcServer(grpc::ServerBuilder &builder, std::chrono::milliseconds keepalive) {
	SetCommonArguments(keepalive, [&](const char *name, int value) { builder.AddChannelArgument(name, value); });
	builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
	// Clients choose their keepalive; how often they ping is no offence.
	builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1);
	builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
	builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, SERVER_HANDSHAKE_MS);
}

void StartGrpc() {
	static std::once_flag once;
	std::call_once(once, [] {
		if (!std::getenv("GRPC_VERBOSITY")) {
			gpr_set_log_function([](gpr_log_func_args *) {});
		}
		grpc_init();
	});
}

} // namespace skein
