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

//! Posts JSON. Returns nothing if it was accepted, or else why not. Thread-safe.
//!
//! Ends within `timeout`, however slowly the other side takes the question or gives its answer; only the system's own
//! search for the addresses of a name is not bounded by it, and a connection gets that time for each of them. Of the
//! answer nothing but its status is kept.
std::optional<std::string> PostJson(const HttpUrl &url, const std::string &body, std::chrono::milliseconds timeout);

} // namespace skein
