#pragma once

#include <string>
#include <utility>
#include <vector>

namespace skein::test {

//! One way to run a query distributed.
struct Configuration {
	std::string name;
	//! Worker processes; 0: workers inside this process, as the settings say.
	size_t processes = 0;
	//! DuckDB's and Skein's settings. The memory limit is set after the tables have been made.
	std::vector<std::pair<std::string, std::string>> settings;
};

//! All configurations in which every answer must be the same.
const std::vector<Configuration> &AllConfigurations();

} // namespace skein::test
