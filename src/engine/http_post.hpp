#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace skein {

//! Where something is posted: `http://host:port/path`.
struct HttpUrl {
	//! `http://host:port`
	std::string base;
	//! Begins with a slash.
	std::string path = "/";

	//! Throws duckdb::InvalidInputException if `text` is no such address. A path that is missing becomes
	//! `default_path`.
	static HttpUrl Parse(const std::string &text, const std::string &default_path);
};

//! Posts JSON. Returns nothing if it was accepted, or else why not, within about `timeout`. Thread-safe.
std::optional<std::string> PostJson(const HttpUrl &url, const std::string &body, std::chrono::milliseconds timeout);

} // namespace skein
