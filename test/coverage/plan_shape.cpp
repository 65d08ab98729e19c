#include "plan_shape.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace skein::test {
namespace {

const std::string BOX = "┌───── ";
const std::string SIDE = "│ ";
const std::string DASHES = " ── ";

bool StartsWith(const std::string &text, const std::string &start) {
	return text.rfind(start, 0) == 0;
}

void Append(std::string &steps, const std::string &step) {
	if (!step.empty()) {
		steps += (steps.empty() ? "" : ", ") + step;
	}
}

//! What stands in brackets after `label`; empty if it is not there.
std::string Bracketed(const std::string &text, const std::string &label) {
	auto start = text.find(label + "=[");
	if (start == std::string::npos) {
		return "";
	}
	start += label.size() + 2;
	return text.substr(start, text.rfind("], input_tasks") - start);
}

} // namespace

std::string PlanShape::Line::FirstWord() const {
	return text.substr(0, text.find_first_of(": "));
}

PlanShape::PlanShape(const std::string &text) {
	std::istringstream stream(text);
	Stage *stage = nullptr;
	for (std::string line; std::getline(stream, line);) {
		line.erase(0, line.find_first_not_of(' '));
		if (StartsWith(line, BOX)) {
			auto title = line.substr(BOX.size());
			auto dashes = title.find(DASHES);
			auto name = title.substr(0, dashes);
			stage = name == "Distributed" ? &head_ : &stages_[name];
			auto tasks = title.find("tasks=");
			stage->tasks = tasks == std::string::npos ? 0 : std::stoul(title.substr(tasks + 6));
		} else if (StartsWith(line, SIDE) && stage) {
			auto content = line.substr(SIDE.size());
			auto level = content.find_first_not_of(' ');
			stage->lines.push_back({level, content.substr(level)});
		}
	}
	if (head_.lines.empty()) {
		throw std::runtime_error("not a distributed plan:\n" + text);
	}
}

std::string PlanShape::Describe() const {
	size_t at = 0;
	return Steps(head_, at);
}

std::string PlanShape::Steps(const Stage &stage, size_t &at) const {
	auto &line = stage.lines[at++];
	std::vector<std::string> inputs;
	auto leaf = StartsWith(line.text, "DistributedLeaf");
	while (at < stage.lines.size() && stage.lines[at].level > line.level) {
		if (leaf) {
			at++; // what each task reads
		} else {
			inputs.push_back(Steps(stage, at));
		}
	}
	if (StartsWith(line.text, "[")) {
		return ExchangeSteps(line.text);
	}
	std::string steps;
	if (inputs.size() == 2 && !StartsWith(line.text, "DistributedUnion")) {
		Append(steps, inputs[0].empty() ? "" : "left (" + inputs[0] + ")");
		Append(steps, inputs[1].empty() ? "" : "right (" + inputs[1] + ")");
	} else if (inputs.size() > 1) {
		for (auto &input : inputs) {
			Append(steps, input.empty() ? "" : "(" + input + ")");
		}
	} else if (!inputs.empty()) {
		steps = inputs[0];
	}
	Append(steps, Step(stage, line));
	return steps;
}

std::string PlanShape::ExchangeSteps(const std::string &text) const {
	auto name = text.substr(1, text.find(']') - 1);
	auto kind = text.substr(text.find("=> ") + 3);
	kind.resize(kind.find(':'));
	auto &producer = stages_.at(name);
	size_t at = 0;
	auto steps = Steps(producer, at);
	if (producer.tasks == 0) {
		steps = "rows of the session";
	}
	if (IsShared(name)) {
		steps = "shared " + name + (steps.empty() ? "" : " (" + steps + ")");
	}
	auto keys = Bracketed(text, "keys");
	if (!keys.empty()) {
		kind += " by " + keys;
	} else if (text.find("merge=[") != std::string::npos) {
		kind += " that merges";
	} else if (text.find("in order") != std::string::npos) {
		kind += " in order";
	} else if (kind == "NetworkShuffle") {
		kind += " in turn";
	}
	Append(steps, kind);
	return steps;
}

std::string PlanShape::Step(const Stage &stage, const Line &line) {
	auto word = line.FirstWord();
	if (word == "PROJECTION" || word == "DUMMY_SCAN") {
		return "";
	}
	if (word == "DistributedLeaf") {
		return line.text.find("read by every task") != std::string::npos ? "read by every task" : "";
	}
	auto step = word;
	if (word == "DistributedUnion") {
		return step;
	}
	if (word == "AGGREGATE") {
		auto partial = line.text.find("partial ") != std::string::npos;
		auto final = line.text.find("final ") != std::string::npos;
		step = (partial ? "partial " : final ? "final " : "") + word;
	}
	if (stage.tasks == 0) {
		step += " in the head";
	} else if (stage.tasks == 1) {
		step += " in one task";
	}
	return step;
}

bool PlanShape::IsShared(const std::string &stage) const {
	size_t readers = 0;
	auto count = [&](const Stage &reader) {
		for (auto &line : reader.lines) {
			readers += StartsWith(line.text, "[" + stage + "]") ? 1 : 0;
		}
	};
	count(head_);
	for (auto &entry : stages_) {
		count(entry.second);
	}
	return readers > 1;
}

bool PlanShape::IsSpread() const {
	return std::any_of(stages_.begin(), stages_.end(), [](auto &entry) { return entry.second.tasks > 1; });
}

bool PlanShape::IsSpread(const std::vector<std::string> &words) const {
	return std::any_of(stages_.begin(), stages_.end(), [&](auto &entry) {
		auto &stage = entry.second;
		return stage.tasks > 1 && std::any_of(stage.lines.begin(), stage.lines.end(), [&](const Line &line) {
				   return std::find(words.begin(), words.end(), line.FirstWord()) != words.end() &&
						  line.text.find("read by every task") == std::string::npos;
			   });
	});
}

bool PlanShape::Contains(const std::vector<std::string> &words) const {
	auto has = [&](const Stage &stage) {
		return std::any_of(stage.lines.begin(), stage.lines.end(), [&](const Line &line) {
			return std::find(words.begin(), words.end(), line.FirstWord()) != words.end();
		});
	};
	return has(head_) || std::any_of(stages_.begin(), stages_.end(), [&](auto &entry) { return has(entry.second); });
}

} // namespace skein::test
