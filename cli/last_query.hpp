#pragma once

#include "duckdb.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace skein::cli {

//! What Skein says about the last query of a connection: the row of `skein_last_query()`.
struct LastQuery {
	bool distributed = false;
	//! Why it was not distributed.
	std::optional<std::string> reason;
	int64_t stages = 0;
	int64_t tasks = 0;
	int64_t workers = 0;
	int64_t bytes_exchanged = 0;
	int64_t rows_exchanged = 0;
	double planning_ms = 0;
	double total_ms = 0;
	int64_t retries = 0;

	static LastQuery Read(duckdb::Connection &connection);
	//! The object that --stats prints.
	nlohmann::ordered_json ToJson() const;
};

} // namespace skein::cli
