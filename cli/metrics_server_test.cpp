#include "metrics_server.hpp"

#include <gtest/gtest.h>

namespace skein::cli {
namespace {

std::string Ask(const std::string &head) {
	return MetricsAnswer(head, []() { return std::string("some 1\n"); });
}

TEST(MetricsServerTest, AnswersGet) {
	for (auto target : {"/metrics", "/metrics?name[]=up"}) {
		EXPECT_EQ(Ask(std::string("GET ") + target + " HTTP/1.1\r\nHost: localhost"),
				  "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 7\r\n"
				  "Connection: close\r\n\r\nsome 1\n");
	}
}

TEST(MetricsServerTest, AnswersHeadWithoutTheText) {
	auto get = Ask("GET /metrics HTTP/1.0");
	EXPECT_EQ(Ask("HEAD /metrics HTTP/1.0"), get.substr(0, get.size() - 7));
	EXPECT_TRUE(Ask("HEAD / HTTP/1.1").ends_with("\r\n\r\n"));
}

TEST(MetricsServerTest, RefusesEverythingElse) {
	for (auto method : {"POST", "PUT", "DELETE", "get"}) {
		auto answer = Ask(std::string(method) + " /metrics HTTP/1.1");
		EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n")) << answer;
	}
	for (auto target : {"/", "/metrics/", "/other", "metrics"}) {
		auto answer = Ask(std::string("GET ") + target + " HTTP/1.1");
		EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 Not Found\r\n")) << answer;
	}
	for (auto head : {"", "\r\n", "GET", "GET /metrics", "GET /metrics HTTP/1.1 more", "GET /metrics SMTP/1.1",
					  "PRI * HTTP/2.0", "\x16\x03\x01"}) {
		auto answer = Ask(head);
		EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << answer;
	}
}

} // namespace
} // namespace skein::cli
