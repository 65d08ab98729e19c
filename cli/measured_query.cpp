#include "measured_query.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace skein::cli {
namespace {

using nlohmann::json;

double Sum(const std::vector<double> &values) {
	return std::accumulate(values.begin(), values.end(), 0.0);
}

//! Makes the sum 1; equal shares of nothing.
std::vector<double> AsShares(std::vector<double> values) {
	auto sum = Sum(values);
	for (auto &value : values) {
		value = sum > 0 ? value / sum : 1.0 / static_cast<double>(values.size());
	}
	return values;
}

//! Adds what `plan`, run by so many tasks, reads of other stages.
void AddInputs(const json &plan, size_t tasks, std::vector<MeasuredInput> &inputs) {
	if (plan.at("kind") == "input") {
		MeasuredInput input;
		input.stage = plan.at("stage");
		input.bytes = plan.contains("sent") ? plan.at("sent").at("bytes").get<double>() : 0;
		std::vector<double> rows(tasks, 0);
		for (auto &task : plan.at("tasks")) {
			rows.at(task.at("task").get<size_t>()) = task.at("rows").get<double>();
		}
		input.shares = AsShares(std::move(rows));
		inputs.push_back(std::move(input));
	}
	for (auto &child : plan.at("children")) {
		AddInputs(child, tasks, inputs);
	}
}

MeasuredStage ReadStage(const json &report) {
	MeasuredStage stage;
	stage.id = report.at("stage");
	auto in_session = report.at("in_session").get<bool>();
	auto tasks = in_session ? 1 : report.at("tasks").get<size_t>();
	stage.cpu_s.resize(tasks);
	stage.sent_shares.resize(tasks);
	for (auto &task : report.at("task_reports")) {
		if (!in_session) {
			auto number = task.at("task").get<size_t>();
			stage.cpu_s.at(number) = task.at("cpu_ms").get<double>() / 1000;
			stage.sent_shares.at(number) = task.at("bytes").get<double>();
		}
	}
	stage.sent_shares = AsShares(std::move(stage.sent_shares));
	AddInputs(report.at("plan"), tasks, stage.inputs);
	return stage;
}

} // namespace

double MeasuredStage::CpuSeconds() const {
	return Sum(cpu_s);
}

double MeasuredQuery::TaskSeconds() const {
	return std::accumulate(stages.begin(), stages.end(), 0.0,
						   [](double sum, auto &stage) { return sum + stage.CpuSeconds(); });
}

double MeasuredQuery::Bytes() const {
	double result = 0;
	auto add = [&](const std::vector<MeasuredInput> &inputs) {
		for (auto &input : inputs) {
			result += input.bytes;
		}
	};
	add(head_inputs);
	for (auto &stage : stages) {
		add(stage.inputs);
	}
	return result;
}

MeasuredQuery MeasuredQuery::From(const json &report, double session_cpu_s, double total_cpu_s) {
	MeasuredQuery result;
	size_t tasks = 0;
	for (auto &stage : report.at("stages")) {
		result.stages.push_back(ReadStage(stage));
		tasks += stage.at("in_session").get<bool>() ? 0 : result.stages.back().cpu_s.size();
	}
	AddInputs(report.at("plan"), 1, result.head_inputs);
	result.session_s = session_cpu_s;
	auto rest_s = std::max(total_cpu_s - session_cpu_s - result.TaskSeconds(), 0.0);
	for (size_t i = 0; i < result.stages.size(); i++) {
		if (report.at("stages")[i].at("in_session").get<bool>()) {
			continue;
		}
		for (auto &cpu_s : result.stages[i].cpu_s) {
			cpu_s += rest_s / static_cast<double>(tasks);
		}
	}
	return result;
}

} // namespace skein::cli
