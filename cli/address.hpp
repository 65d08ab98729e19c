#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace skein::cli {

struct HostPort {
	//! A name or an address, without the brackets of an IPv6 address.
	std::string host;
	uint16_t port = 0;
};

//! Reads `HOST:PORT`, also `[::1]:PORT`. Throws CommandError (wrong usage) that names `text` when it is anything else.
HostPort ParseHostPort(const std::string &text);

//! The opposite of ParseHostPort().
std::string ToString(const HostPort &address);

//! Accepts one `HOST:PORT`, port 0 included.
CLI::Validator ListenAddress();

//! Accepts what names a cluster: `HOST:PORT,HOST:PORT,...` without port 0 and without repetition, or
//! `dns:///NAME:PORT`.
CLI::Validator ClusterAddresses();

//! How many addresses a text that ClusterAddresses() has accepted names; 0 for a name that a name server resolves.
size_t CountAddresses(const std::string &cluster);

} // namespace skein::cli
