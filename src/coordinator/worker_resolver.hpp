#pragma once

#include <string>
#include <vector>

namespace skein {

//! The addresses that `cluster` stands for: `host:port,host:port,...`, or `dns:///name:port`, which is looked up.
//!
//! Throws duckdb::InvalidInputException when an address is malformed, naming it, and duckdb::IOException when the name
//! cannot be resolved.
std::vector<std::string> ResolveWorkers(const std::string &cluster);

} // namespace skein
