#include "transport/grpc/grpc_call.hpp"

#include "duckdb/common/string_util.hpp"

namespace skein {

namespace {

//! The one method of a Skein node. Its version counts the incompatible changes of the stream's format.
const char *const LINK_METHOD = "/skein.transport.v1.Node/Link";
//! What a Skein node opens its end of the stream with.
const char *const NODE_HEADER = "skein-node";

std::string OneLine(std::string text) {
	for (auto &c : text) {
		if (c == '\n' || c == '\r') {
			c = ' ';
		}
	}
	return text;
}

//! What gRPC says, and what that means here.
struct Meaning {
	const char *said;
	const char *meaning;
};

constexpr Meaning MEANINGS[] = {
	{"http1.x", "an HTTP/1 server is there, but no Skein worker"},
	{"DNS resolution failed", "the host name cannot be resolved"},
	{"Connection refused", "connection refused"},
	{"keepalive watchdog timeout", "it does not answer any more"},
	{"Connection timed out", "it does not answer any more"},
	{"Socket closed", "it closed the connection, or its process ended"},
	{"Connection reset by peer", "it closed the connection, or its process ended"},
};

std::string Explain(const grpc::Status &status) {
	if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
		return "a gRPC server is there, but no Skein worker of this version";
	}
	auto message = OneLine(status.error_message());
	for (auto &entry : MEANINGS) {
		if (message.find(entry.said) != std::string::npos) {
			return entry.meaning;
		}
	}
	auto last = message.rfind("last error: ");
	return last == std::string::npos ? message : message.substr(last + std::string("last error: ").size());
}

} // namespace

GrpcClientCall::GrpcClientCall(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue &queue)
	: channel_(std::move(channel)), stub_(channel_), stream_(stub_.PrepareCall(&context_, LINK_METHOD, &queue)) {
}

void GrpcClientCall::Start(void *tag) {
	stream_->StartCall(tag);
}

bool GrpcClientCall::Accepted(void *tag) {
	stream_->ReadInitialMetadata(tag);
	return true;
}

bool GrpcClientCall::PeerIsSkein() {
	return context_.GetServerInitialMetadata().count(NODE_HEADER) > 0;
}

void GrpcClientCall::Read(grpc::ByteBuffer *message, void *tag) {
	stream_->Read(message, tag);
}

void GrpcClientCall::Write(const grpc::ByteBuffer &message, bool last, void *tag) {
	grpc::WriteOptions options;
	if (last) {
		options.set_last_message();
	}
	stream_->Write(message, options, tag);
}

void GrpcClientCall::Finish(void *tag) {
	stream_->Finish(&status_, tag);
}

void GrpcClientCall::Cancel() {
	context_.TryCancel();
}

std::string GrpcClientCall::Failure() {
	return status_.ok() ? "" : Explain(status_);
}

GrpcServerCall::GrpcServerCall() : stream_(&context_) {
}

void GrpcServerCall::Request(grpc::AsyncGenericService &service, grpc::ServerCompletionQueue &queue, void *tag) {
	service.RequestCall(&context_, &stream_, &queue, &queue, tag);
}

bool GrpcServerCall::IsLink() const {
	return context_.method() == LINK_METHOD;
}

void GrpcServerCall::Refuse(void *tag) {
	stream_.Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "This is a Skein worker"), tag);
}

std::string GrpcServerCall::PeerAddress() const {
	// gRPC writes "ipv4:127.0.0.1:4200" and "ipv6:%5B::1%5D:4200".
	auto peer = context_.peer();
	peer = peer.substr(peer.find(':') + 1);
	peer = duckdb::StringUtil::Replace(peer, "%5B", "[");
	return duckdb::StringUtil::Replace(peer, "%5D", "]");
}

void GrpcServerCall::Start(void *tag) {
	context_.AddInitialMetadata(NODE_HEADER, "1");
	stream_.SendInitialMetadata(tag);
}

bool GrpcServerCall::Accepted(void *tag) {
	return false;
}

bool GrpcServerCall::PeerIsSkein() {
	return true;
}

void GrpcServerCall::Read(grpc::ByteBuffer *message, void *tag) {
	stream_.Read(message, tag);
}

void GrpcServerCall::Write(const grpc::ByteBuffer &message, bool last, void *tag) {
	stream_.Write(message, tag);
}

void GrpcServerCall::Finish(void *tag) {
	stream_.Finish(grpc::Status::OK, tag);
}

void GrpcServerCall::Cancel() {
	context_.TryCancel();
}

std::string GrpcServerCall::Failure() {
	return "";
}

} // namespace skein
