#include "worker_metrics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace skein::cli {
namespace {

//! A status in which every number differs from every other.
WorkerStatus SomeStatus() {
	WorkerStatus status;
	status.skein_version = "1.2.3";
	status.engine_version = "v4.5.6";
	uint64_t next = 11;
	for (auto field : {&status.slots, &status.threads, &status.running_tasks, &status.waiting_tasks}) {
		*field = static_cast<uint32_t>(next++);
	}
	for (auto field :
		 {&status.memory_used, &status.memory_limit, &status.spilled, &status.queries, &status.finished_tasks,
		  &status.failed_tasks, &status.cancelled_tasks, &status.output_rows, &status.output_bytes, &status.link_bytes,
		  &status.exchange_sent_bytes, &status.exchange_received_bytes}) {
		*field = next++;
	}
	status.task_durations.count = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	status.task_durations.total_micros = 2500000;
	for (size_t kind = 0; kind < MESSAGE_KIND_COUNT; kind++) {
		status.message_durations[kind].count = {kind, 1, 0, 0, 0, 0, 0, 2};
		status.message_durations[kind].total_micros = 1000000 * (kind + 1);
	}
	status.running_queries.resize(3);
	return status;
}

//! What the text says of one metric.
struct Described {
	bool has_help = false;
	std::string type;
	std::vector<std::string> samples;
};

//! By the names in HELP and TYPE lines; a sample without them, or of a malformed line, is a failure.
std::map<std::string, Described> Parse(const std::string &text) {
	static const std::regex SAMPLE(R"(([a-z_]+)(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? ([0-9.e+-]+|\+Inf))");
	std::map<std::string, Described> result;
	std::string current;
	std::istringstream lines(text);
	for (std::string line; std::getline(lines, line);) {
		std::istringstream words(line);
		std::string hash, keyword, name, type;
		if (line.starts_with("# ")) {
			words >> hash >> keyword >> name >> type;
			current = name;
			auto &metric = result[name];
			EXPECT_TRUE(metric.samples.empty()) << line;
			metric.has_help = metric.has_help || keyword == "HELP";
			metric.type = keyword == "TYPE" ? type : metric.type;
			continue;
		}
		std::smatch match;
		EXPECT_TRUE(std::regex_match(line, match, SAMPLE)) << line;
		auto sample = match[1].str();
		EXPECT_TRUE(sample.starts_with(current)) << line;
		EXPECT_TRUE(result[current].type == "histogram" || sample == current) << line;
		result[current].samples.push_back(line);
	}
	return result;
}

TEST(WorkerMetricsTest, KeepsTheConventionsOfNames) {
	auto text = MetricsText(SomeStatus());
	ASSERT_TRUE(text.ends_with("\n"));
	static const std::set<std::string> UNITS{"seconds", "bytes", "total", "info",
											 "queries", "tasks", "slots", "threads"};
	for (auto &[name, metric] : Parse(text)) {
		SCOPED_TRACE(name);
		EXPECT_TRUE(std::regex_match(name, std::regex("skein_worker_[a-z_]+[a-z]")));
		EXPECT_TRUE(metric.has_help);
		EXPECT_FALSE(metric.samples.empty());
		EXPECT_EQ(name.ends_with("_total"), metric.type == "counter");
		EXPECT_TRUE(metric.type == "counter" || metric.type == "gauge" || metric.type == "histogram");
		EXPECT_EQ(UNITS.count(name.substr(name.rfind('_') + 1)), 1U);
		for (auto word : {"_kb", "_mb", "_ms", "_millis", "_micros", "_count", "_sum", "_bucket"}) {
			EXPECT_EQ(name.find(word), std::string::npos);
		}
		std::set<std::string> labels;
		for (auto &sample : metric.samples) {
			EXPECT_TRUE(labels.insert(sample.substr(0, sample.rfind(' '))).second) << "twice: " << sample;
		}
	}
}

TEST(WorkerMetricsTest, AHistogramIsCumulativeAndComplete) {
	auto samples = Parse(MetricsText(SomeStatus()))["skein_worker_task_duration_seconds"].samples;
	std::vector<double> buckets;
	std::string rest;
	for (auto &sample : samples) {
		if (sample.find("_bucket{") != std::string::npos) {
			buckets.push_back(std::stod(sample.substr(sample.rfind(' '))));
		} else {
			rest += sample + "\n";
		}
	}
	EXPECT_EQ(buckets, (std::vector<double>{1, 3, 6, 10, 15, 21, 28, 36, 45}));
	EXPECT_NE(samples.back().find("+Inf"), std::string::npos);
	EXPECT_NE(rest.find("_count 45\n"), std::string::npos) << rest;
	EXPECT_NE(rest.find("_sum 2.5\n"), std::string::npos) << rest;
}

TEST(WorkerMetricsTest, MessagesAreCountedByWhatTheyAskFor) {
	auto text = MetricsText(SomeStatus());
	const std::string name = "skein_worker_message_duration_seconds";
	uint64_t kind = 0;
	for (std::string message : {"start_tasks", "end_query", "subscribe", "credit", "page", "other"}) {
		auto label = "message=\"" + message + "\"";
		auto count = std::to_string(kind + 3);
		EXPECT_NE(text.find(name + "_count{" + label + "} " + count + "\n"), std::string::npos) << text;
		EXPECT_NE(text.find(name + "_sum{" + label + "} " + std::to_string(kind + 1) + "\n"), std::string::npos);
		EXPECT_NE(text.find(name + "_bucket{" + label + ",le=\"+Inf\"} " + count + "\n"), std::string::npos);
		kind++;
	}
}

TEST(WorkerMetricsTest, ShowsEveryNumberOfTheStatus) {
	auto text = MetricsText(SomeStatus());
	for (auto number = 11; number < 27; number++) {
		EXPECT_NE(text.find(" " + std::to_string(number) + "\n"), std::string::npos) << number << " in " << text;
	}
	EXPECT_NE(text.find("version=\"1.2.3\""), std::string::npos);
	EXPECT_NE(text.find("skein_worker_tasks{state=\"running\"} 13\n"), std::string::npos);
	EXPECT_NE(text.find("skein_worker_output_bytes_total{kind=\"link\"} 24\n"), std::string::npos);
	EXPECT_NE(text.find("skein_worker_exchange_bytes_total{direction=\"sent\"} 25\n"), std::string::npos);
	EXPECT_NE(text.find("skein_worker_exchange_bytes_total{direction=\"received\"} 26\n"), std::string::npos);
	EXPECT_NE(text.find("skein_worker_running_queries 3\n"), std::string::npos);
}

} // namespace
} // namespace skein::cli
