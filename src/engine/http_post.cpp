#include "engine/http_post.hpp"

#include "duckdb.hpp"
#include "httplib.hpp"

namespace skein {

HttpUrl HttpUrl::Parse(const std::string &text, const std::string &default_path) {
	static const std::string SCHEME = "http://";
	HttpUrl result;
	auto slash = text.find('/', SCHEME.size());
	result.base = text.substr(0, slash);
	result.path = slash == std::string::npos || text.substr(slash) == "/" ? default_path : text.substr(slash);
	auto has_host = result.base.size() > SCHEME.size() && result.base.rfind(SCHEME, 0) == 0;
	if (!has_host || result.base.find_first_of(" @?#\r\n") != std::string::npos) {
		throw duckdb::InvalidInputException("an address like 'http://host:4318' is needed, not '%s'", text);
	}
	return result;
}

std::optional<std::string> PostJson(const HttpUrl &url, const std::string &body, std::chrono::milliseconds timeout) {
	try {
		duckdb_httplib::Client client(url.base);
		client.set_connection_timeout(timeout);
		client.set_read_timeout(timeout);
		client.set_write_timeout(timeout);
		auto answer = client.Post(url.path, body, "application/json");
		if (!answer) {
			return duckdb_httplib::to_string(answer.error());
		}
		if (answer->status / 100 != 2) {
			return "status " + std::to_string(answer->status);
		}
		return std::nullopt;
	} catch (const std::exception &error) {
		return error.what();
	}
}

} // namespace skein
