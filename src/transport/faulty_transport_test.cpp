#include "transport/faulty_transport.hpp"

#include "transport/in_process/in_process_transport.hpp"

#include "gtest/gtest.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace skein {

namespace {

//! Keeps the headers of frames and the reasons of ends.
class Log final : public LinkHandler {
public:
	void OnFrame(Link &link, Frame frame) override {
		std::lock_guard<std::mutex> guard(lock_);
		headers_.push_back(frame.header);
		changed_.notify_all();
	}
	void OnClosed(Link &link, const std::string &reason) override {
		std::lock_guard<std::mutex> guard(lock_);
		reasons_.push_back(reason);
		changed_.notify_all();
	}
	std::vector<std::string> WaitForHeaders(size_t count) {
		std::unique_lock<std::mutex> guard(lock_);
		EXPECT_TRUE(changed_.wait_for(guard, std::chrono::seconds(60), [&] { return headers_.size() >= count; }));
		return headers_;
	}
	std::vector<std::string> WaitForReasons(size_t count) {
		std::unique_lock<std::mutex> guard(lock_);
		EXPECT_TRUE(changed_.wait_for(guard, std::chrono::seconds(60), [&] { return reasons_.size() >= count; }));
		return reasons_;
	}

private:
	std::mutex lock_;
	std::condition_variable changed_;
	std::vector<std::string> headers_;
	std::vector<std::string> reasons_;
};

} // namespace

TEST(FaultyTransport, CutsALinkAtBothEnds) {
	InProcessTransport inner;
	FaultOptions options;
	options.cut_within_frames = 5;
	FaultyTransport transport(inner, options);
	Log server, client;
	auto listener = transport.Listen("node", server);
	auto link = transport.Connect("node", client, {});
	for (size_t i = 0; i < 10; i++) {
		link->Send({std::to_string(i), {}});
	}
	EXPECT_NE(client.WaitForReasons(1)[0].find("it was cut"), std::string::npos);
	EXPECT_NE(server.WaitForReasons(1)[0].find("it was cut"), std::string::npos);
	EXPECT_LT(server.WaitForHeaders(0).size(), 5u);
}

TEST(FaultyTransport, CutsAtTheSamePlaceForTheSameSeed) {
	std::vector<size_t> received;
	for (uint64_t seed : {1, 1, 2, 3, 4, 5}) {
		InProcessTransport inner;
		FaultOptions options;
		options.seed = seed;
		options.cut_within_frames = 1000;
		FaultyTransport transport(inner, options);
		Log server, client;
		auto listener = transport.Listen("node", server);
		auto link = transport.Connect("node", client, {});
		for (size_t i = 0; i < 1000; i++) {
			link->Send({std::to_string(i), {}});
		}
		server.WaitForReasons(1);
		client.WaitForReasons(1);
		received.push_back(server.WaitForHeaders(0).size());
	}
	EXPECT_EQ(received[0], received[1]);
	EXPECT_NE(std::vector<size_t>(received.begin() + 1, received.end()), std::vector<size_t>(5, received[0]));
}

TEST(FaultyTransport, RefusesTheFirstConnects) {
	InProcessTransport inner;
	FaultOptions options;
	options.refused_connects = 2;
	FaultyTransport transport(inner, options);
	Log server, client;
	auto listener = transport.Listen("node", server);
	for (size_t i = 0; i < 2; i++) {
		transport.Connect("node", client, {})->Send({"lost", {}});
	}
	EXPECT_EQ(client.WaitForReasons(2), std::vector<std::string>(2, "cannot connect to node: refused"));
	auto link = transport.Connect("node", client, {});
	link->Send({"arrives", {}});
	EXPECT_EQ(server.WaitForHeaders(1), std::vector<std::string>({"arrives"}));
	link->Close();
	EXPECT_EQ(client.WaitForReasons(3)[2], "");
}

TEST(FaultyTransport, ReordersAcrossLinksOnly) {
	InProcessTransport inner;
	FaultOptions options;
	options.max_delay = std::chrono::milliseconds(2);
	FaultyTransport transport(inner, options);
	Log server, client;
	auto listener = transport.Listen("node", server);
	std::vector<std::shared_ptr<Link>> links;
	for (size_t i = 0; i < 10; i++) {
		links.push_back(transport.Connect("node", client, {}));
	}
	const size_t rounds = 20;
	std::vector<std::string> sent;
	for (size_t round = 0; round < rounds; round++) {
		for (size_t link = 0; link < links.size(); link++) {
			sent.push_back(std::to_string(link) + ":" + std::to_string(round));
			links[link]->Send({sent.back(), {}});
		}
	}
	auto received = server.WaitForHeaders(sent.size());
	EXPECT_NE(received, sent);
	std::vector<size_t> next(links.size());
	for (auto &header : received) {
		EXPECT_EQ(header.substr(2), std::to_string(next[header[0] - '0']++));
	}
	for (auto &link : links) {
		link->Close();
	}
	client.WaitForReasons(links.size());
}

} // namespace skein
