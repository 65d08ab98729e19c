#pragma once

#include <cstdint>
#include <string>

namespace skein {

//! A `host:port` address, taken apart. An IPv6 host is written in brackets, as in `[::1]:4200`, and kept without them.
struct HostPort {
	std::string host;
	uint16_t port = 0;

	//! Throws duckdb::InvalidInputException, naming `address`, unless it is a host, a colon and a port from 0 to 65535.
	static HostPort Parse(const std::string &address);
	std::string ToString() const;
};

//! Whether a `host:port` is of this machine by its very form: 127.x.x.x, ::1 or localhost.
bool IsLoopback(const std::string &address);

} // namespace skein
