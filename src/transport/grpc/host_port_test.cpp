#include "transport/grpc/host_port.hpp"

#include "duckdb/common/exception.hpp"
#include "gtest/gtest.h"

namespace skein {

TEST(HostPort, IsTakenApartAndPutTogether) {
	for (auto address : {"127.0.0.1:4200", "worker-1.example.org:0", "[::1]:65535", "localhost:1"}) {
		EXPECT_EQ(HostPort::Parse(address).ToString(), address);
	}
	EXPECT_EQ(HostPort::Parse("[::1]:80").host, "::1");
	EXPECT_EQ(HostPort::Parse("[::1]:80").port, 80);
}

TEST(HostPort, IsRefusedByNameIfMalformed) {
	for (auto address : {"", "abc", "host:", ":4200", "host:99999", "host:-1", "host:4a", "host: 1", "::1:4200", "[]:1",
						 "[::1]", "http://host:1", "a b:1", "host:1:2"}) {
		try {
			HostPort::Parse(address);
			ADD_FAILURE() << address;
		} catch (duckdb::InvalidInputException &ex) {
			EXPECT_NE(std::string(ex.what()).find("\\\"" + std::string(address) + "\\\""), std::string::npos)
				<< ex.what();
		}
	}
}

TEST(HostPort, KnowsLoopbackByItsForm) {
	for (auto address : {"127.0.0.1:1", "127.9.9.9:4200", "localhost:1", "[::1]:4200", "[::ffff:127.0.0.1]:1"}) {
		EXPECT_TRUE(IsLoopback(address)) << address;
	}
	for (auto address : {"128.0.0.1:1", "10.127.0.1:1", "localhost.example:1", "[::2]:1", "[2001::1]:1", "host:127"}) {
		EXPECT_FALSE(IsLoopback(address)) << address;
	}
}

} // namespace skein
