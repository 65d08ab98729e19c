#include "coordinator/worker_resolver.hpp"

#include "duckdb.hpp"
#include "duckdb/common/string_util.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <set>
#include <sys/socket.h>

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *DNS_PREFIX = "dns:///";

//! Splits `host:port` and checks both; the port comes back as a plain number, so that equal addresses are equal texts.
std::pair<string, string> SplitAddress(const string &address) {
	auto colon = address.rfind(':');
	if (colon == string::npos || colon == 0 || colon + 1 == address.size()) {
		throw InvalidInputException("'%s' is not the address of a worker: host:port is needed", address);
	}
	auto port = address.substr(colon + 1);
	if (port.find_first_not_of("0123456789") != string::npos || port.size() > 5 || std::stoul(port) == 0 ||
		std::stoul(port) > 65535) {
		throw InvalidInputException("'%s' is not the address of a worker: '%s' is not a port", address, port);
	}
	return {address.substr(0, colon), std::to_string(std::stoul(port))};
}

std::vector<string> LookUp(const string &name) {
	auto parts = SplitAddress(name);
	addrinfo hints{};
	hints.ai_family = AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	addrinfo *found = nullptr;
	auto error = getaddrinfo(parts.first.c_str(), parts.second.c_str(), &hints, &found);
	if (error != 0) {
		throw IOException("cannot reach workers at '%s': %s", name, gai_strerror(error));
	}
	std::set<string> addresses;
	for (auto entry = found; entry; entry = entry->ai_next) {
		char text[INET6_ADDRSTRLEN];
		if (entry->ai_family == AF_INET) {
			auto address = reinterpret_cast<sockaddr_in *>(entry->ai_addr);
			inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
			addresses.insert(string(text) + ":" + parts.second);
		} else if (entry->ai_family == AF_INET6) {
			auto address = reinterpret_cast<sockaddr_in6 *>(entry->ai_addr);
			inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof(text));
			addresses.insert("[" + string(text) + "]:" + parts.second);
		}
	}
	freeaddrinfo(found);
	return {addresses.begin(), addresses.end()};
}

} // namespace

std::vector<string> ResolveWorkers(const string &cluster) {
	if (StringUtil::StartsWith(cluster, DNS_PREFIX)) {
		return LookUp(cluster.substr(strlen(DNS_PREFIX)));
	}
	std::vector<string> result;
	for (auto &part : StringUtil::Split(cluster, ',')) {
		StringUtil::Trim(part);
		auto address = SplitAddress(part);
		part = address.first + ":" + address.second;
		if (std::find(result.begin(), result.end(), part) == result.end()) {
			result.push_back(part);
		}
	}
	return result;
}

} // namespace skein
