#include "metrics_server.hpp"

#include "exit_code.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <netdb.h>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace skein::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t MAX_HEAD_BYTES = 16384;
//! How long nobody is accepted when the process has no descriptor left.
constexpr std::chrono::seconds ACCEPT_PAUSE{1};

std::string Answer(const std::string &status, const std::string &headers, const std::string &body, bool with_body) {
	return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
		   "\r\nConnection: close\r\n\r\n" + (with_body ? body : "");
}

//! Returns a socket that listens, or -1 and `errno`.
int ListenAt(const addrinfo &address) {
	auto result = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
	if (result < 0) {
		return result;
	}
	int on = 1;
	setsockopt(result, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(result, address.ai_addr, address.ai_addrlen) == 0 && listen(result, SOMAXCONN) == 0) {
		return result;
	}
	auto error = errno;
	close(result);
	errno = error;
	return -1;
}

int Listen(const HostPort &address) {
	addrinfo hints{};
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE;
	addrinfo *found = nullptr;
	auto failure = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
	std::string reason = failure == 0 ? "it has no address" : gai_strerror(failure);
	auto result = -1;
	for (auto candidate = found; candidate && result < 0; candidate = candidate->ai_next) {
		result = ListenAt(*candidate);
		reason = std::strerror(errno);
	}
	if (found) {
		freeaddrinfo(found);
	}
	if (result < 0) {
		throw CommandError(ExitCode::FAILED, "cannot serve metrics at " + ToString(address) + ": " + reason);
	}
	return result;
}

} // namespace

std::string MetricsAnswer(const std::string &head, const std::function<std::string()> &text) {
	std::istringstream words(head.substr(0, head.find_first_of("\r\n")));
	std::string method, target, version, rest;
	words >> method >> target >> version;
	if (!version.starts_with("HTTP/1.") || words >> rest) {
		return Answer("400 Bad Request", "", "this is no HTTP/1.1\n", true);
	}
	auto is_head = method == "HEAD";
	if (target.substr(0, target.find('?')) != "/metrics") {
		return Answer("404 Not Found", "", "there is only /metrics\n", !is_head);
	}
	if (method != "GET" && !is_head) {
		return Answer("405 Method Not Allowed", "Allow: GET, HEAD\r\n", "there is only GET and HEAD\n", true);
	}
	return Answer("200 OK", "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n", text(), !is_head);
}

//! Those who ask. Used by the server's thread alone.
class MetricsServer::Connections {
public:
	Connections(int listener, const std::function<std::string()> &text) : listener_(listener), text_(text) {
	}
	~Connections() {
		while (!connections_.empty()) {
			Close(connections_.begin());
		}
	}

	//! Handles what has come, then waits for more, or for `stop`, which it returns.
	bool Step(int stop) {
		std::vector<pollfd> polled{{stop, POLLIN, 0}, {Accepts() ? listener_ : -1, POLLIN, 0}};
		for (auto &connection : connections_) {
			auto events = connection.out.empty() ? POLLIN : POLLOUT;
			polled.push_back({connection.descriptor, static_cast<short>(events), 0});
		}
		poll(polled.data(), polled.size(), Timeout());
		auto entry = polled.begin() + 2;
		for (auto it = connections_.begin(); it != connections_.end(); entry++) {
			auto current = it++;
			auto ready = entry->revents != 0;
			if ((ready && !Serve(*current)) || Clock::now() >= current->deadline) {
				Close(current);
			}
		}
		if (polled[1].revents != 0) {
			Accept();
		}
		return polled[0].revents != 0;
	}

private:
	struct Connection {
		int descriptor;
		Clock::time_point deadline;
		//! The question, as far as it has come.
		std::string in;
		//! What is still to be sent.
		std::string out;
		//! Whether all has been sent: now it waits for the other side to close, which might miss the answer otherwise.
		bool answered = false;
	};
	//! The oldest first.
	using List = std::list<Connection>;

	bool Accepts() const {
		return Clock::now() >= accepts_from_;
	}

	//! In milliseconds, as poll() takes it: until the next connection's time is up; -1: there is none.
	int Timeout() const {
		std::optional<Clock::time_point> next;
		if (!connections_.empty()) {
			next = connections_.front().deadline;
		}
		if (!Accepts()) {
			next = std::min(next.value_or(accepts_from_), accepts_from_);
		}
		if (!next) {
			return -1;
		}
		auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
		return static_cast<int>(std::max<int64_t>(0, left));
	}

	void Close(List::iterator connection) {
		close(connection->descriptor);
		connections_.erase(connection);
	}

	//! Takes all that wait to be connected, and answers those that have asked already.
	void Accept() {
		while (true) {
			auto descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
			if (descriptor < 0) {
				if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
					accepts_from_ = Clock::now() + ACCEPT_PAUSE;
				}
				return;
			}
			if (connections_.size() >= MAX_CONNECTIONS) {
				Close(connections_.begin());
			}
			connections_.push_back({descriptor, Clock::now() + CONNECTION_TIMEOUT, {}, {}, false});
			if (!Serve(connections_.back())) {
				Close(std::prev(connections_.end()));
			}
		}
	}

	//! Goes as far as it can without waiting. Returns whether the connection is still needed.
	bool Serve(Connection &connection) {
		std::array<char, 4096> buffer{};
		while (connection.out.empty()) {
			auto count = recv(connection.descriptor, buffer.data(), buffer.size(), 0);
			if (count <= 0) {
				return count < 0 && (errno == EAGAIN || errno == EINTR);
			}
			if (connection.answered) {
				return true;
			}
			connection.in.append(buffer.data(), static_cast<size_t>(count));
			auto end = connection.in.find("\r\n\r\n");
			if (end != std::string::npos || connection.in.size() > MAX_HEAD_BYTES) {
				connection.out = MetricsAnswer(end == std::string::npos ? "" : connection.in.substr(0, end), text_);
			}
		}
		return Send(connection);
	}

	static bool Send(Connection &connection) {
		while (!connection.out.empty()) {
			auto count = send(connection.descriptor, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
			if (count < 0) {
				return errno == EAGAIN || errno == EINTR;
			}
			connection.out.erase(0, static_cast<size_t>(count));
		}
		connection.answered = true;
		shutdown(connection.descriptor, SHUT_WR);
		return true;
	}

	const int listener_;
	const std::function<std::string()> &text_;
	List connections_;
	Clock::time_point accepts_from_;
};

MetricsServer::MetricsServer(const HostPort &address, std::function<std::string()> text)
	: text_(std::move(text)), listener_(Listen(address)), stop_(eventfd(0, EFD_CLOEXEC)), thread_([this]() { Run(); }) {
}

MetricsServer::~MetricsServer() {
	eventfd_write(stop_, 1);
	thread_.join();
	close(listener_);
	close(stop_);
}

uint16_t MetricsServer::Port() const {
	sockaddr_storage bound{};
	socklen_t length = sizeof(bound);
	std::array<char, NI_MAXSERV> port{};
	getsockname(listener_, reinterpret_cast<sockaddr *>(&bound), &length);
	getnameinfo(reinterpret_cast<sockaddr *>(&bound), length, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV);
	return static_cast<uint16_t>(std::strtoul(port.data(), nullptr, 10));
}

void MetricsServer::Run() {
	Connections connections(listener_, text_);
	while (!connections.Step(stop_)) {
	}
}

} // namespace skein::cli
