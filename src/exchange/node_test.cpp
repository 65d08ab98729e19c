#include "exchange/node.hpp"

#include "exchange/test_node.hpp"
#include "skein/version.hpp"
#include "transport/grpc/grpc_transport.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace skein {
namespace {

using namespace duckdb;

//! A peer of another version: greets as it is told to, and remembers how the link ended.
class ForeignPeer final : public LinkHandler {
public:
	void OnFrame(Link &link, Frame frame) override {
		wire::Message message;
		message.ParseFromString(frame.header);
		std::lock_guard<std::mutex> guard(mutex_);
		if (message.has_hello()) {
			wire::Message refusal;
			refusal.mutable_refusal()->set_message("versions differ: theirs there, yours here");
			SendMessage(link, refusal);
			link.Close();
		}
		refusal_ = message.has_refusal() ? message.refusal().message() : refusal_;
	}
	void OnClosed(Link &link, const string &reason) override {
		std::lock_guard<std::mutex> guard(mutex_);
		closed_ = true;
		changed_.notify_all();
	}
	//! What the node said before it closed the link.
	string Refusal() {
		std::unique_lock<std::mutex> guard(mutex_);
		changed_.wait_for(guard, std::chrono::seconds(20), [&]() { return closed_; });
		return closed_ ? refusal_ : "the link was not closed";
	}

private:
	std::mutex mutex_;
	std::condition_variable changed_;
	string refusal_;
	bool closed_ = false;
};

std::unique_ptr<Transport> MakeTransport(const string &kind) {
	if (kind == "Grpc") {
		return std::make_unique<GrpcTransport>();
	}
	return std::make_unique<InProcessTransport>();
}

class NodeTest : public testing::TestWithParam<const char *> {
protected:
	NodeTest()
		: transport(MakeTransport(GetParam())), dialling(*transport, "dialling"), listening(*transport, "@self") {
		address = listening.node.Listen("127.0.0.1:0");
	}
	wire::Message AnyControl() {
		wire::Message message;
		message.mutable_query_ended()->set_query("q");
		return message;
	}

	std::unique_ptr<Transport> transport;
	TestNode dialling;
	TestNode listening;
	string address;
};

TEST_P(NodeTest, RefusesOtherVersionsAndNamesBoth) {
	for (auto other_engine : {false, true}) {
		ForeignPeer peer;
		auto link = transport->Connect(address, peer, {});
		wire::Message message;
		auto &hello = *message.mutable_hello();
		hello.set_protocol(other_engine ? PROTOCOL_VERSION : 99);
		hello.set_engine_version(other_engine ? "v1.0.0" : DuckDB::LibraryVersion());
		hello.set_skein_version("9.8.7");
		SendMessage(*link, message);
		auto refusal = peer.Refusal();
		for (auto word :
			 {string("9.8.7"), string(SKEIN_VERSION), string(DuckDB::LibraryVersion()),
			  string(other_engine ? "v1.0.0" : "protocol 99"), "protocol " + std::to_string(PROTOCOL_VERSION)}) {
			EXPECT_NE(refusal.find(word), string::npos) << word << " in: " << refusal;
		}
	}
}

TEST_P(NodeTest, ARefusalIsTheReasonOfTheLoss) {
	ForeignPeer peer;
	auto listener = transport->Listen("127.0.0.1:0", peer);
	dialling.node.LinkTo(listener->Address());
	auto loss = dialling.control.FirstLoss();
	EXPECT_EQ(loss.address, listener->Address());
	EXPECT_EQ(loss.reason, "versions differ: theirs there, yours here");
	EXPECT_FALSE(loss.had_answered);
	listener->Stop();
}

TEST_P(NodeTest, DialsAnAddressOnceWhoeverAsks) {
	std::vector<std::thread> threads;
	std::vector<std::shared_ptr<Link>> links(8);
	for (auto &link : links) {
		threads.emplace_back([&]() { link = dialling.node.LinkTo(address); });
	}
	for (auto &thread : threads) {
		thread.join();
	}
	for (auto &link : links) {
		EXPECT_EQ(link, links[0]);
	}
}

TEST_P(NodeTest, DialsAgainAfterALoss) {
	auto link = dialling.node.LinkTo(address);
	EXPECT_TRUE(dialling.node.IsOpen(address, *link));
	link->Close();
	dialling.control.FirstLoss();
	EXPECT_FALSE(dialling.node.IsOpen(address, *link));
	auto next = dialling.node.LinkTo(address);
	EXPECT_NE(next, link);
	SendMessage(*next, AnyControl());
	EXPECT_TRUE(listening.control.FirstLink());
}

TEST_P(NodeTest, TellsWhetherTheLostPeerHadAnswered) {
	auto link = dialling.node.LinkTo(address);
	SendMessage(*link, AnyControl());
	// The greeting was answered before the message was handed over.
	auto accepted = listening.control.FirstLink();
	ASSERT_TRUE(accepted);
	accepted->Close();
	EXPECT_TRUE(dialling.control.FirstLoss().had_answered);
}

TEST_P(NodeTest, AnAddressWithNobodyBehindItIsALossWithAReason) {
	string nowhere;
	{
		ForeignPeer peer;
		auto listener = transport->Listen("127.0.0.1:0", peer);
		nowhere = listener->Address();
		listener->Stop();
	}
	auto link = dialling.node.LinkTo(nowhere);
	auto loss = dialling.control.FirstLoss();
	EXPECT_EQ(loss.address, nowhere);
	EXPECT_FALSE(loss.reason.empty());
	EXPECT_FALSE(loss.had_answered);
	EXPECT_FALSE(dialling.node.IsOpen(nowhere, *link));
}

TEST_P(NodeTest, AnAliasIsTheLinkUntilItIsRemoved) {
	auto link = dialling.node.LinkTo(address);
	SendMessage(*link, AnyControl());
	auto accepted = listening.control.FirstLink();
	ASSERT_TRUE(accepted);
	listening.node.AddAlias("@coordinator/q", accepted);
	EXPECT_EQ(listening.node.LinkTo("@coordinator/q"), accepted);
	EXPECT_TRUE(listening.node.IsOpen("@coordinator/q", *accepted));
	listening.node.RemoveAlias("@coordinator/q");
	EXPECT_FALSE(listening.node.IsOpen("@coordinator/q", *accepted));
}

TEST_P(NodeTest, DialsNobodyOnceStopped) {
	dialling.node.LinkTo(address);
	dialling.node.Stop();
	dialling.node.Stop();
	EXPECT_EQ(ErrorOf([&]() { dialling.node.LinkTo(address); }), ExceptionType::IO);
}

TEST_P(NodeTest, StopsWhileOthersDial) {
	for (int round = 0; round < 20; round++) {
		TestNode node(*transport, "short-lived");
		std::thread other([&]() {
			try {
				SendMessage(*node.node.LinkTo(address), AnyControl());
			} catch (IOException &) {
				// It came too late.
			}
		});
		node.node.Stop();
		other.join();
	}
}

INSTANTIATE_TEST_SUITE_P(Transports, NodeTest, testing::Values("InProcess", "Grpc"),
						 [](auto &info) { return string(info.param); });

} // namespace
} // namespace skein
