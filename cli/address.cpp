#include "address.hpp"

#include "exit_code.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace skein::cli {
namespace {

constexpr const char *DNS_PREFIX = "dns:///";

[[noreturn]] void ThrowMalformed(const std::string &text) {
	throw CommandError(ExitCode::WRONG_USAGE, "malformed address '" + text + "': expected HOST:PORT");
}

bool IsHostName(const std::string &host) {
	return !host.empty() && std::all_of(host.begin(), host.end(), [](unsigned char c) {
		return std::isalnum(c) || c == '.' || c == '-' || c == '_';
	});
}

bool IsIPv6(const std::string &host) {
	return host.find(':') != std::string::npos && std::all_of(host.begin(), host.end(), [](unsigned char c) {
			   return std::isxdigit(c) || c == ':' || c == '.' || c == '%';
		   });
}

void CheckPeer(const std::string &text) {
	if (ParseHostPort(text).port == 0) {
		throw CommandError(ExitCode::WRONG_USAGE, "malformed address '" + text + "': port 0 cannot be dialled");
	}
}

void CheckCluster(const std::string &text) {
	if (text.rfind(DNS_PREFIX, 0) == 0) {
		CheckPeer(text.substr(std::string(DNS_PREFIX).size()));
		return;
	}
	std::set<std::string> seen;
	// A trailing comma is an empty last address, which getline() would drop.
	std::istringstream list(text + ",");
	for (std::string address; std::getline(list, address, ',');) {
		CheckPeer(address);
		if (!seen.insert(address).second) {
			throw CommandError(ExitCode::WRONG_USAGE, "address '" + address + "' is given twice");
		}
	}
}

//! A validator of CLI11 returns the error's text, or nothing.
template <class CHECK>
CLI::Validator MakeValidator(CHECK check, const std::string &type_name) {
	return CLI::Validator(
		[check](std::string &text) -> std::string {
			try {
				check(text);
				return {};
			} catch (const CommandError &error) {
				return error.what();
			}
		},
		type_name);
}

} // namespace

HostPort ParseHostPort(const std::string &text) {
	auto colon = text.rfind(':');
	if (colon == std::string::npos) {
		ThrowMalformed(text);
	}
	HostPort result;
	result.host = text.substr(0, colon);
	auto is_bracketed = result.host.size() > 2 && result.host.front() == '[' && result.host.back() == ']';
	if (is_bracketed) {
		result.host = result.host.substr(1, result.host.size() - 2);
	}
	if (is_bracketed ? !IsIPv6(result.host) : !IsHostName(result.host)) {
		ThrowMalformed(text);
	}
	auto first = text.data() + colon + 1;
	auto last = text.data() + text.size();
	auto parsed = std::from_chars(first, last, result.port);
	if (first == last || parsed.ec != std::errc() || parsed.ptr != last) {
		ThrowMalformed(text);
	}
	return result;
}

std::string ToString(const HostPort &address) {
	auto is_ipv6 = address.host.find(':') != std::string::npos;
	return (is_ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

size_t CountAddresses(const std::string &cluster) {
	auto is_name = cluster.rfind(DNS_PREFIX, 0) == 0;
	return is_name ? 0 : static_cast<size_t>(std::count(cluster.begin(), cluster.end(), ',')) + 1;
}

CLI::Validator ListenAddress() {
	return MakeValidator([](const std::string &text) { ParseHostPort(text); }, "HOST:PORT");
}

CLI::Validator ClusterAddresses() {
	return MakeValidator(CheckCluster, "HOST:PORT,...|dns:///NAME:PORT");
}

} // namespace skein::cli
