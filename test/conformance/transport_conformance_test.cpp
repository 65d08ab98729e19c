//! What every transport promises, tested on each of them: see docs/adding_a_transport.md.

#include "recorder.hpp"

#include "transport/faulty_transport.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "transport/in_process/in_process_transport.hpp"

#include "duckdb/common/exception.hpp"
#include "gtest/gtest.h"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace skein {

namespace {

//! A transport to test, with what it stands on.
struct Subject {
	std::unique_ptr<Transport> inner;
	std::unique_ptr<Transport> transport;
};

struct Maker {
	const char *name;
	Subject (*make)();
};

template <class TRANSPORT>
Subject MakePlain() {
	return {nullptr, std::make_unique<TRANSPORT>()};
}

template <class TRANSPORT>
Subject MakeDelayed() {
	Subject result{std::make_unique<TRANSPORT>(), nullptr};
	FaultOptions faults;
	faults.seed = 42;
	faults.max_delay = std::chrono::microseconds(50);
	result.transport = std::make_unique<FaultyTransport>(*result.inner, faults);
	return result;
}

const char *const ANY_ADDRESS = "127.0.0.1:0";

Frame Numbered(size_t number, SharedBytes body = {}) {
	return {std::to_string(number), std::move(body)};
}

} // namespace

class TransportConformance : public testing::TestWithParam<Maker> {
protected:
	//! A handler that outlives the transport, also when a test gives up half-way.
	Recorder &Record(std::function<void(Link &, const Frame &)> on_frame = nullptr) {
		return recorders.emplace_back(std::move(on_frame));
	}
	std::unique_ptr<Listener> Listen(LinkHandler &handler) {
		return transport.Listen(ANY_ADDRESS, handler);
	}
	std::shared_ptr<Link> Connect(Listener &listener, LinkHandler &handler) {
		return transport.Connect(listener.Address(), handler, {});
	}

	std::deque<Recorder> recorders;
	Subject subject = GetParam().make();
	Transport &transport = *subject.transport;
};

INSTANTIATE_TEST_SUITE_P(Transports, TransportConformance,
						 testing::Values(Maker{"in_process", MakePlain<InProcessTransport>},
										 Maker{"grpc", MakePlain<GrpcTransport>},
										 Maker{"in_process_delayed", MakeDelayed<InProcessTransport>},
										 Maker{"grpc_delayed", MakeDelayed<GrpcTransport>}),
						 [](auto &info) { return std::string(info.param.name); });

TEST_P(TransportConformance, FramesKeepTheirOrderAndContent) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	const size_t count = 3000;
	for (size_t i = 0; i < count; i++) {
		link->Send(Numbered(i, MakeBody((i * 37) % 9000, i)));
	}
	ASSERT_TRUE(server.WaitForFrames(count));
	auto frames = server.Frames();
	for (size_t i = 0; i < count; i++) {
		ASSERT_EQ(frames[i].header, std::to_string(i));
		ASSERT_EQ(frames[i].body_size, (i * 37) % 9000);
		ASSERT_EQ(frames[i].body_checksum, Checksum(MakeBody((i * 37) % 9000, i)));
	}
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, BothEndsSendAtTheSameTime) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	link->Send(Numbered(0));
	ASSERT_TRUE(server.WaitForLinks(1));
	auto back = server.OpenLinks()[0];
	const size_t count = 200;
	auto send = [&](Link &to) {
		for (size_t i = 1; i < count; i++) {
			to.Send(Numbered(i, MakeBody(20000, i)));
		}
	};
	std::thread other([&] { send(*back); });
	send(*link);
	other.join();
	ASSERT_TRUE(server.WaitForFrames(count));
	ASSERT_TRUE(client.WaitForFrames(count - 1));
	EXPECT_EQ(client.Frames()[0].header, "1");
	EXPECT_EQ(client.Frames().back().header, std::to_string(count - 1));
	EXPECT_EQ(server.Frames().back().body_checksum, Checksum(MakeBody(20000, count - 1)));
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, EachOfSeveralSendersKeepsItsOrder) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	const size_t senders = 8;
	const size_t count = 200;
	std::vector<std::thread> threads;
	for (size_t sender = 0; sender < senders; sender++) {
		threads.emplace_back([&, sender] {
			for (size_t i = 0; i < count; i++) {
				link->Send({std::to_string(sender) + ":" + std::to_string(i), MakeBody(i % 3 == 0 ? 6000 : 10, i)});
			}
		});
	}
	for (auto &thread : threads) {
		thread.join();
	}
	ASSERT_TRUE(server.WaitForFrames(senders * count));
	std::vector<size_t> next(senders);
	for (auto &frame : server.Frames()) {
		auto sender = frame.header[0] - '0';
		ASSERT_EQ(frame.header.substr(2), std::to_string(next[sender]++));
	}
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, ABodyOf150MegabytesArrivesWhole) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	auto body = MakeBody(150 << 20, 7);
	link->Send({"big", body});
	link->Send({"after", {}});
	ASSERT_TRUE(server.WaitForFrames(2));
	EXPECT_EQ(server.Frames()[0].body_size, body.size);
	EXPECT_EQ(server.Frames()[0].body_checksum, Checksum(body));
	EXPECT_EQ(server.Frames()[1].header, "after");
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, EmptyAndLongHeadersArrive) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	std::string header(20 << 20, 'h');
	header[12345] = '\0';
	link->Send({"", {}});
	link->Send({"", MakeBody(5, 1)});
	link->Send({header, MakeBody(5, 2)});
	ASSERT_TRUE(server.WaitForFrames(3));
	EXPECT_EQ(server.Frames()[0].header, "");
	EXPECT_EQ(server.Frames()[0].body_size, 0u);
	EXPECT_EQ(server.Frames()[1].header, "");
	EXPECT_EQ(server.Frames()[1].body_checksum, Checksum(MakeBody(5, 1)));
	EXPECT_TRUE(server.Frames()[2].header == header);
	EXPECT_EQ(server.Frames()[2].body_checksum, Checksum(MakeBody(5, 2)));
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, ManySmallFramesArrive) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	const size_t count = 50000;
	for (size_t i = 0; i < count; i++) {
		link->Send(Numbered(i));
	}
	ASSERT_TRUE(server.WaitForFrames(count));
	EXPECT_EQ(server.Frames()[count - 1].header, std::to_string(count - 1));
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, AHeaderAboveTheLimitIsRefused) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	EXPECT_THROW(link->Send({std::string(Frame::MAX_HEADER_BYTES + 1, 'h'), {}}), duckdb::InternalException);
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, ABodyIsReleasedOnceItWasDelivered) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	std::vector<std::weak_ptr<const void>> owners;
	for (size_t size : {100, 100000, 10000000}) {
		auto body = MakeBody(size, size);
		owners.push_back(body.owner);
		link->Send({"", std::move(body)});
	}
	ASSERT_TRUE(server.WaitForFrames(3));
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
	listener->Stop();
	for (auto &owner : owners) {
		EXPECT_TRUE(owner.expired());
	}
}

TEST_P(TransportConformance, CloseComesAfterTheFramesQueuedBefore) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	const size_t count = 100;
	for (size_t i = 0; i < count; i++) {
		link->Send(Numbered(i, MakeBody(100000, i)));
	}
	link->Close();
	link->Close();
	link->Send(Numbered(count));
	ASSERT_TRUE(server.WaitForClosed(1));
	ASSERT_TRUE(client.WaitForClosed(1));
	EXPECT_EQ(server.FrameCount(), count);
	EXPECT_EQ(server.Reasons()[0], "");
	EXPECT_EQ(client.Reasons()[0], "");
	link->Send(Numbered(count));
	link->Close();
}

TEST_P(TransportConformance, TheAcceptingEndMayCloseToo) {
	const size_t count = 100;
	auto &server = Record([&](Link &link, const Frame &frame) {
		for (size_t i = 0; i < count; i++) {
			link.Send(Numbered(i, MakeBody(100000, i)));
		}
		link.Close();
	});
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	link->Send(Numbered(0));
	ASSERT_TRUE(client.WaitForClosed(1));
	ASSERT_TRUE(server.WaitForClosed(1));
	EXPECT_EQ(client.FrameCount(), count);
	EXPECT_EQ(server.Reasons()[0], "");
	EXPECT_EQ(client.Reasons()[0], "");
}

TEST_P(TransportConformance, ALinkThatWasNeverUsedCloses) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
	EXPECT_EQ(client.Reasons()[0], "");
	EXPECT_EQ(server.FrameCount(), 0u);
}

TEST_P(TransportConformance, BothEndsMayCloseWhileBothSend) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	for (size_t round = 0; round < 20; round++) {
		auto link = Connect(*listener, client);
		link->Send(Numbered(round));
		ASSERT_TRUE(server.WaitForLinks(round + 1));
		auto back = server.OpenLinks()[0];
		auto send_and_close = [&](Link &to, size_t count) {
			for (size_t i = 0; i < 50; i++) {
				to.Send(Numbered(i, MakeBody(1000, i)));
				if (i == count) {
					to.Close();
				}
			}
		};
		std::thread first([&] { send_and_close(*link, 10 + round); });
		std::thread second([&] { send_and_close(*link, 20); });
		std::thread third([&] { send_and_close(*back, 30 - round); });
		first.join();
		second.join();
		third.join();
		ASSERT_TRUE(client.WaitForClosed(round + 1));
		ASSERT_TRUE(server.WaitForClosed(round + 1));
		EXPECT_EQ(server.Reasons()[round], "");
		EXPECT_EQ(client.Reasons()[round], "");
	}
}

TEST_P(TransportConformance, AHandlerMaySendBack) {
	const size_t rounds = 2000;
	auto reply = [&](Link &link, const Frame &frame) {
		auto number = std::stoul(frame.header);
		if (number < rounds) {
			link.Send(Numbered(number + 1));
		}
	};
	auto &server = Record(reply);
	auto &client = Record(reply);
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	link->Send(Numbered(0));
	ASSERT_TRUE(server.WaitForFrames(rounds / 2 + 1));
	ASSERT_TRUE(client.WaitForFrames(rounds / 2));
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, AHandlerMaySendAlongAChainOfLinks) {
	// Every node passes a frame on to the next; the last one is the first.
	const size_t nodes = 10;
	const size_t rounds = 100;
	std::mutex lock;
	std::vector<std::shared_ptr<Link>> links(nodes);
	auto link_to = [&](size_t node) {
		std::lock_guard<std::mutex> guard(lock);
		return links[node % nodes];
	};
	std::vector<std::unique_ptr<Recorder>> servers;
	std::vector<std::unique_ptr<Listener>> listeners;
	for (size_t node = 0; node < nodes; node++) {
		servers.push_back(std::make_unique<Recorder>([&, node](Link &, const Frame &frame) {
			auto number = std::stoul(frame.header);
			if (number < nodes * rounds) {
				link_to(node + 1)->Send(Numbered(number + 1));
			}
		}));
		listeners.push_back(transport.Listen(ANY_ADDRESS, *servers[node]));
	}
	auto &client = Record();
	for (size_t node = 0; node < nodes; node++) {
		auto link = transport.Connect(listeners[node]->Address(), client, {});
		std::lock_guard<std::mutex> guard(lock);
		links[node] = std::move(link);
	}
	link_to(0)->Send(Numbered(0));
	ASSERT_TRUE(servers[0]->WaitForFrames(rounds + 1));
	for (auto &link : links) {
		link->Close();
	}
	ASSERT_TRUE(client.WaitForClosed(nodes));
	listeners.clear();
}

TEST_P(TransportConformance, NoFrameFollowsWhenAHandlerCloses) {
	auto &server = Record([&](Link &link, const Frame &frame) {
		if (frame.header == "10") {
			link.Close();
		}
	});
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	for (size_t i = 0; i < 1000; i++) {
		link->Send(Numbered(i));
	}
	ASSERT_TRUE(server.WaitForClosed(1));
	ASSERT_TRUE(client.WaitForClosed(1));
	EXPECT_EQ(server.FrameCount(), 11u);
	EXPECT_EQ(client.Reasons()[0], "");
}

TEST_P(TransportConformance, WhatAHandlerThrowsIsTheReasonAtBothEnds) {
	auto &server = Record([&](Link &, const Frame &) { throw duckdb::InvalidInputException("no such query"); });
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	link->Send(Numbered(0));
	link->Send(Numbered(1));
	ASSERT_TRUE(server.WaitForClosed(1));
	ASSERT_TRUE(client.WaitForClosed(1));
	EXPECT_EQ(server.FrameCount(), 0u);
	EXPECT_EQ(server.Reasons()[0], "no such query");
	EXPECT_EQ(client.Reasons()[0], "no such query");
}

TEST_P(TransportConformance, AHandlerMayConnectAndCloseOtherLinks) {
	auto &other_server = Record();
	auto &other_client = Record();
	auto other_listener = transport.Listen(ANY_ADDRESS, other_server);
	auto &server = Record([&](Link &, const Frame &) {
		auto link = transport.Connect(other_listener->Address(), other_client, {});
		link->Send({"from a handler", {}});
		link->Close();
	});
	auto &client = Record();
	auto listener = Listen(server);
	auto link = Connect(*listener, client);
	link->Send(Numbered(0));
	ASSERT_TRUE(other_server.WaitForClosed(1));
	ASSERT_TRUE(other_client.WaitForClosed(1));
	EXPECT_EQ(other_server.Frames()[0].header, "from a handler");
	link->Close();
	ASSERT_TRUE(client.WaitForClosed(1));
}

TEST_P(TransportConformance, StopClosesOpenLinksAndIsIdempotent) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	const size_t count = 5;
	std::vector<std::shared_ptr<Link>> links;
	for (size_t i = 0; i < count; i++) {
		links.push_back(Connect(*listener, client));
		links.back()->Send(Numbered(i));
	}
	ASSERT_TRUE(server.WaitForFrames(count));
	std::thread other([&] { listener->Stop(); });
	listener->Stop();
	EXPECT_EQ(server.Reasons(), std::vector<std::string>(count));
	other.join();
	listener->Stop();
	ASSERT_TRUE(client.WaitForClosed(count));
	EXPECT_EQ(client.Reasons(), std::vector<std::string>(count));
}

TEST_P(TransportConformance, StopIsSafeWhilePeersSendAndConnect) {
	auto server = std::make_unique<Recorder>();
	auto &client = Record();
	auto listener = Listen(*server);
	auto address = listener->Address();
	std::atomic<size_t> connects{0};
	std::vector<std::thread> threads;
	for (size_t i = 0; i < 3; i++) {
		threads.emplace_back([&] {
			for (size_t round = 0; round < 20; round++) {
				auto link = transport.Connect(address, client, {});
				++connects;
				for (size_t frame = 0; frame < 20; frame++) {
					link->Send(Numbered(frame, MakeBody(1000, frame)));
				}
				link->Close();
			}
		});
	}
	ASSERT_TRUE(server->WaitForLinks(3));
	listener->Stop();
	// Nothing may be called any more.
	server.reset();
	for (auto &thread : threads) {
		thread.join();
	}
	ASSERT_TRUE(client.WaitForClosed(connects));
}

TEST_P(TransportConformance, AnAddressIsFreeAgainAfterStop) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto address = listener->Address();
	EXPECT_THROW(transport.Listen(address, server), duckdb::IOException);
	auto link = Connect(*listener, client);
	link->Send(Numbered(0));
	ASSERT_TRUE(server.WaitForFrames(1));
	listener->Stop();
	listener = transport.Listen(address, server);
	EXPECT_EQ(listener->Address(), address);
	auto again = Connect(*listener, client);
	again->Send(Numbered(1));
	ASSERT_TRUE(server.WaitForFrames(2));
	again->Close();
	ASSERT_TRUE(client.WaitForClosed(2));
}

TEST_P(TransportConformance, ConnectingToNobodyGivesAReason) {
	auto &server = Record();
	auto &client = Record();
	auto listener = Listen(server);
	auto address = listener->Address();
	listener->Stop();
	auto link = transport.Connect(address, client, {});
	link->Send(Numbered(0));
	ASSERT_TRUE(client.WaitForClosed(1));
	EXPECT_EQ(link->PeerAddress(), address);
	EXPECT_NE(client.Reasons()[0].find(address), std::string::npos) << client.Reasons()[0];
	EXPECT_EQ(client.Reasons()[0].find("cannot connect to"), 0u) << client.Reasons()[0];
	link->Close();
	link->Send(Numbered(1));
}

TEST_P(TransportConformance, AnEmptyAddressIsRefused) {
	auto &handler = Record();
	EXPECT_THROW(transport.Listen("", handler), duckdb::InvalidInputException);
	EXPECT_THROW(transport.Connect("", handler, {}), duckdb::InvalidInputException);
}

TEST_P(TransportConformance, ManyLinksWorkAtOnce) {
	auto &server = Record([](Link &link, const Frame &frame) { link.Send(frame); });
	auto &client = Record();
	auto listener = Listen(server);
	const size_t count = 64;
	const size_t frames = 20;
	std::vector<std::shared_ptr<Link>> links;
	for (size_t i = 0; i < count; i++) {
		links.push_back(Connect(*listener, client));
	}
	for (size_t frame = 0; frame < frames; frame++) {
		for (auto &link : links) {
			link->Send(Numbered(frame, MakeBody(5000, frame)));
		}
	}
	ASSERT_TRUE(client.WaitForFrames(count * frames));
	for (auto &link : links) {
		link->Close();
	}
	ASSERT_TRUE(client.WaitForClosed(count));
	ASSERT_TRUE(server.WaitForClosed(count));
	EXPECT_EQ(server.Reasons(), std::vector<std::string>(count));
}

} // namespace skein
