//! A peer whose process dies or stands still is noticed in time, at either end of a link and whatever is under way.

#include "child_process.hpp"
#include "recorder.hpp"

#include "transport/grpc/grpc_transport.hpp"

#include "gtest/gtest.h"

#include <csignal>

namespace skein {

namespace {

constexpr std::chrono::seconds NOTICED_WITHIN{5};

enum class Traffic { NONE, OUTGOING };

struct Loss {
	const char *name;
	int signal;
	Traffic traffic;
};

void SendMuch(Link &link) {
	auto body = MakeBody(1 << 20, 1);
	for (size_t i = 0; i < 64; i++) {
		link.Send({"", body});
	}
}

} // namespace

class LostPeer : public testing::TestWithParam<Loss> {
protected:
	void LoseAndExpectNotice(ChildProcess &peer, Link &link, Recorder &recorder) {
		auto start = std::chrono::steady_clock::now();
		peer.Signal(GetParam().signal);
		if (GetParam().traffic == Traffic::OUTGOING) {
			SendMuch(link);
		}
		ASSERT_TRUE(recorder.WaitForClosed(1));
		EXPECT_LT(std::chrono::steady_clock::now() - start, NOTICED_WITHIN);
		EXPECT_NE(recorder.Reasons()[0].find("lost the connection to " + link.PeerAddress()), std::string::npos)
			<< recorder.Reasons()[0];
		RecordProperty("reason", recorder.Reasons()[0]);
	}
};

INSTANTIATE_TEST_SUITE_P(Losses, LostPeer,
						 testing::Values(Loss{"killed", SIGKILL, Traffic::NONE},
										 Loss{"killed_while_sent_to", SIGKILL, Traffic::OUTGOING},
										 Loss{"stopped", SIGSTOP, Traffic::NONE},
										 Loss{"stopped_while_sent_to", SIGSTOP, Traffic::OUTGOING}),
						 [](auto &info) { return std::string(info.param.name); });

TEST_P(LostPeer, IsNoticedByWhoConnected) {
	ChildProcess peer({SKEIN_ECHO_PEER});
	auto address = peer.ReadLine();
	Recorder recorder;
	GrpcTransport transport;
	auto link = transport.Connect(address, recorder, {});
	link->Send({"hello", {}});
	ASSERT_TRUE(recorder.WaitForFrames(1));
	LoseAndExpectNotice(peer, *link, recorder);
}

TEST_P(LostPeer, IsNoticedByWhoAccepted) {
	Recorder recorder;
	GrpcTransport transport;
	auto listener = transport.Listen("127.0.0.1:0", recorder);
	ChildProcess peer({SKEIN_ECHO_PEER, listener->Address()});
	ASSERT_TRUE(recorder.WaitForFrames(1));
	auto link = recorder.OpenLinks()[0];
	LoseAndExpectNotice(peer, *link, recorder);
}

TEST(StoppedPeer, DoesNotHoldUpStop) {
	Recorder recorder;
	GrpcTransport transport;
	auto listener = transport.Listen("127.0.0.1:0", recorder);
	ChildProcess peer({SKEIN_ECHO_PEER, listener->Address()});
	ASSERT_TRUE(recorder.WaitForFrames(1));
	peer.Signal(SIGSTOP);
	SendMuch(*recorder.OpenLinks()[0]);
	auto start = std::chrono::steady_clock::now();
	listener->Stop();
	EXPECT_LT(std::chrono::steady_clock::now() - start, NOTICED_WITHIN);
	EXPECT_EQ(recorder.Reasons().size(), 1u);
	EXPECT_NE(recorder.Reasons()[0], "");
}

TEST(StoppedPeer, CannotBeConnectedTo) {
	ChildProcess peer({SKEIN_ECHO_PEER});
	auto address = peer.ReadLine();
	peer.Signal(SIGSTOP);
	Recorder recorder;
	GrpcTransport transport;
	LinkOptions options;
	options.connect_timeout = std::chrono::milliseconds(300);
	auto start = std::chrono::steady_clock::now();
	auto link = transport.Connect(address, recorder, options);
	link->Send({"hello", {}});
	ASSERT_TRUE(recorder.WaitForClosed(1));
	EXPECT_LT(std::chrono::steady_clock::now() - start, NOTICED_WITHIN);
	EXPECT_EQ(recorder.Reasons()[0], "cannot connect to " + address + ": no answer within 300 ms");
}

} // namespace skein
