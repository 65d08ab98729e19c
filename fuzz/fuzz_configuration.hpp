#pragma once

#include "fuzz/random.hpp"

#include <string>

namespace skein::fuzz {

//! One way to run a query distributed.
struct FuzzConfiguration {
	//! Worker processes; 0: workers inside this process.
	size_t processes = 0;
	size_t workers = 3;
	//! Most tasks of a stage; 0: one per worker.
	size_t tasks = 0;
	//! Threads of the session, and of workers inside of the process.
	size_t threads = 4;
	std::string join = "auto";
	std::string page = "1MiB";
	std::string buffer = "256MiB";
	//! DuckDB's memory limit; empty: none.
	std::string memory;

	//! One that follows from the numbers given.
	static FuzzConfiguration Pick(Random &random);
	//! Reads what Text() writes; what is not named stays as it is by default. Throws on anything else.
	static FuzzConfiguration Parse(const std::string &text);
	//! `workers=3,threads=4,join=auto,page=1`
	std::string Text() const;
};

} // namespace skein::fuzz
