#include "fuzz/fuzz_configuration.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

namespace skein::fuzz {

FuzzConfiguration FuzzConfiguration::Pick(Random &random) {
	FuzzConfiguration result;
	result.threads = random.Chance(50) ? 1 : 4;
	// Queries that go to processes take longer, and differ in how pages travel only.
	if (random.Chance(15)) {
		result.processes = static_cast<size_t>(random.Between(1, 3));
	} else {
		result.workers = random.Pick(std::vector<size_t>{1, 2, 2, 2, 2, 2, 3, 3, 3, 7});
	}
	result.join = random.Text({"auto", "auto", "broadcast", "shuffle"});
	// Outputs are full only where both are small.
	auto sizes = random.Below(100);
	if (sizes < 20) {
		result.page = random.Text({"1", "400"});
	}
	if (sizes >= 8 && sizes < 26) {
		result.buffer = "1";
	}
	if (random.Chance(10) && result.processes == 0) {
		result.memory = "200MB";
		result.threads = 2;
	}
	return result;
}

FuzzConfiguration FuzzConfiguration::Parse(const std::string &text) {
	std::map<std::string, std::string> values;
	std::stringstream parts(text);
	for (std::string part; std::getline(parts, part, ',');) {
		auto equals = part.find('=');
		if (equals == std::string::npos) {
			throw std::invalid_argument("malformed configuration '" + text + "': expected name=value,...");
		}
		values[part.substr(0, equals)] = part.substr(equals + 1);
	}
	FuzzConfiguration result;
	auto take = [&](const char *name, std::string &target) {
		auto found = values.find(name);
		if (found != values.end()) {
			target = found->second;
			values.erase(found);
		}
	};
	auto take_number = [&](const char *name, size_t &target) {
		std::string value;
		take(name, value);
		if (!value.empty()) {
			target = std::stoul(value);
		}
	};
	take_number("processes", result.processes);
	take_number("workers", result.workers);
	take_number("tasks", result.tasks);
	take_number("threads", result.threads);
	take("join", result.join);
	take("page", result.page);
	take("buffer", result.buffer);
	take("memory", result.memory);
	if (!values.empty()) {
		throw std::invalid_argument("no part of a configuration is called '" + values.begin()->first + "'");
	}
	return result;
}

std::string FuzzConfiguration::Text() const {
	auto text = processes > 0 ? "processes=" + std::to_string(processes) : "workers=" + std::to_string(workers);
	if (tasks > 0) {
		text += ",tasks=" + std::to_string(tasks);
	}
	text += ",threads=" + std::to_string(threads) + ",join=" + join;
	if (page != FuzzConfiguration().page) {
		text += ",page=" + page;
	}
	if (buffer != FuzzConfiguration().buffer) {
		text += ",buffer=" + buffer;
	}
	if (!memory.empty()) {
		text += ",memory=" + memory;
	}
	return text;
}

} // namespace skein::fuzz
