#pragma once

#include "address.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace skein::cli {

//! Answers `GET /metrics` and `HEAD /metrics` over HTTP, one question a connection, in a thread of its own.
//!
//! No connection waits for another, whatever others do or leave undone: each has CONNECTION_TIMEOUT for all of it, and
//! of more than MAX_CONNECTIONS the oldest is closed.
class MetricsServer {
public:
	static constexpr size_t MAX_CONNECTIONS = 64;
	static constexpr std::chrono::seconds CONNECTION_TIMEOUT{2};

	//! `text` makes the answer, in the server's thread; it must not wait nor throw. Throws CommandError when the
	//! address cannot be used; port 0 picks a free one.
	MetricsServer(const HostPort &address, std::function<std::string()> text);
	~MetricsServer();
	MetricsServer(const MetricsServer &) = delete;
	MetricsServer &operator=(const MetricsServer &) = delete;

	//! The port that is really bound.
	uint16_t Port() const;

private:
	class Connections;
	void Run();

	const std::function<std::string()> text_;
	int listener_ = -1;
	//! Readable once the server is to end.
	int stop_ = -1;
	std::thread thread_;
};

//! The whole answer to a question whose head, up to the empty line, is `head`; `text` makes the body.
std::string MetricsAnswer(const std::string &head, const std::function<std::string()> &text);

} // namespace skein::cli
