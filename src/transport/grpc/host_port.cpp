#include "transport/grpc/host_port.hpp"

#include "duckdb/common/exception.hpp"

#include <charconv>

namespace skein {

namespace {

[[noreturn]] void ThrowMalformed(const std::string &address, const std::string &what) {
	throw duckdb::InvalidInputException(
		"\"%s\" is not an address: %s; write it as host:port, for example 127.0.0.1:4200", address, what);
}

bool IsHost(const std::string &host) {
	for (auto c : host) {
		if (std::isspace(static_cast<unsigned char>(c)) || std::iscntrl(static_cast<unsigned char>(c)) ||
			std::string("/@?#%[]").find(c) != std::string::npos) {
			return false;
		}
	}
	return !host.empty();
}

} // namespace

HostPort HostPort::Parse(const std::string &address) {
	HostPort result;
	auto colon = address.rfind(':');
	if (colon == std::string::npos) {
		ThrowMalformed(address, "it has no port");
	}
	result.host = address.substr(0, colon);
	if (result.host.starts_with("[") && result.host.ends_with("]") && result.host.size() > 2) {
		result.host = result.host.substr(1, result.host.size() - 2);
	} else if (result.host.find(':') != std::string::npos) {
		ThrowMalformed(address, "an IPv6 host needs brackets, as in [::1]:4200");
	}
	if (!IsHost(result.host)) {
		ThrowMalformed(address, result.host.empty() ? "it has no host" : "the host has a character that no host has");
	}
	auto digits = address.substr(colon + 1);
	auto end = digits.data() + digits.size();
	auto parsed = std::from_chars(digits.data(), end, result.port);
	if (parsed.ec != std::errc() || parsed.ptr != end) {
		ThrowMalformed(address, "the port is not a number from 0 to 65535");
	}
	return result;
}

std::string HostPort::ToString() const {
	auto ipv6 = host.find(':') != std::string::npos;
	return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool IsLoopback(const std::string &address) {
	return address.starts_with("127.") || address.starts_with("localhost:") || address.starts_with("[::1]:") ||
		   address.starts_with("[::ffff:127.");
}

} // namespace skein
