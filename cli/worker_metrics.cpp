#include "worker_metrics.hpp"

#include "address.hpp"
#include "exit_code.hpp"

#include <limits>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace skein::cli {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

//! A sample: at most one label, and the value.
struct Sample {
	std::string label;
	std::string label_value;
	double value;
};

MetricFamily Family(const std::string &name, const std::string &help, MetricType type,
					const std::vector<Sample> &samples) {
	MetricFamily family;
	family.name = name;
	family.help = help;
	family.type = type;
	for (auto &sample : samples) {
		ClientMetric metric;
		if (!sample.label.empty()) {
			metric.label.push_back({sample.label, sample.label_value});
		}
		(type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = sample.value;
		family.metric.push_back(std::move(metric));
	}
	return family;
}

MetricFamily Counter(const std::string &name, const std::string &help, double value) {
	return Family(name, help, MetricType::Counter, {{"", "", value}});
}

MetricFamily Gauge(const std::string &name, const std::string &help, double value) {
	return Family(name, help, MetricType::Gauge, {{"", "", value}});
}

template <class DURATIONS>
ClientMetric Histogram(const DURATIONS &durations) {
	ClientMetric metric;
	uint64_t count = 0;
	for (size_t i = 0; i < durations.count.size(); i++) {
		count += durations.count[i];
		auto is_last = i == DURATIONS::LIMITS_SECONDS.size();
		metric.histogram.bucket.push_back(
			{count, is_last ? std::numeric_limits<double>::infinity() : DURATIONS::LIMITS_SECONDS[i]});
	}
	metric.histogram.sample_count = count;
	metric.histogram.sample_sum = static_cast<double>(durations.total_micros) / 1e6;
	return metric;
}

MetricFamily TaskTimes(const TaskDurations &durations) {
	MetricFamily family;
	family.name = "skein_worker_task_duration_seconds";
	family.help = "Time from the arrival of a task to its end";
	family.type = MetricType::Histogram;
	family.metric.push_back(Histogram(durations));
	return family;
}

MetricFamily MessageTimes(const std::array<MessageDurations, MESSAGE_KIND_COUNT> &durations) {
	static constexpr std::array<const char *, MESSAGE_KIND_COUNT> NAMES{"start_tasks", "end_query", "subscribe",
																		"credit",	   "page",		"other"};
	MetricFamily family;
	family.name = "skein_worker_message_duration_seconds";
	family.help = "Time from the arrival of a message to the end of its handling, by what it asks for";
	family.type = MetricType::Histogram;
	for (size_t kind = 0; kind < durations.size(); kind++) {
		family.metric.push_back(Histogram(durations[kind]));
		family.metric.back().label.push_back({"message", NAMES[kind]});
	}
	return family;
}

std::vector<MetricFamily> Families(const WorkerStatus &status) {
	auto number = [](uint64_t value) { return static_cast<double>(value); };
	MetricFamily info = Family("skein_worker_info", "Versions of this worker; always 1", MetricType::Gauge,
							   {{"version", status.skein_version, 1}});
	info.metric[0].label.push_back({"duckdb_version", status.engine_version});
	return {
		info,
		Gauge("skein_worker_running_queries", "Queries that have tasks here", number(status.running_queries.size())),
		Counter("skein_worker_queries_total", "Queries, or attempts of them, that have sent tasks",
				number(status.queries)),
		Family(
			"skein_worker_tasks", "Tasks that are here now, by state", MetricType::Gauge,
			{{"state", "running", number(status.running_tasks)}, {"state", "waiting", number(status.waiting_tasks)}}),
		Family("skein_worker_tasks_total", "Tasks that have ended, by how", MetricType::Counter,
			   {{"result", "finished", number(status.finished_tasks)},
				{"result", "failed", number(status.failed_tasks)},
				{"result", "cancelled", number(status.cancelled_tasks)}}),
		TaskTimes(status.task_durations),
		MessageTimes(status.message_durations),
		Gauge("skein_worker_slots", "Most tasks that run at a time; 0 is no limit", number(status.slots)),
		Gauge("skein_worker_threads", "Threads that run tasks", number(status.threads)),
		Counter("skein_worker_output_rows_total", "Rows that ended tasks have put out", number(status.output_rows)),
		Family("skein_worker_output_bytes_total",
			   "Bytes that ended tasks have put out, and what of it was sent to other processes, as it was sent",
			   MetricType::Counter,
			   {{"kind", "page", number(status.output_bytes)}, {"kind", "link", number(status.link_bytes)}}),
		Family("skein_worker_exchange_bytes_total",
			   "Pages sent to other processes and received from them up to now, as they were sent", MetricType::Counter,
			   {{"direction", "sent", number(status.exchange_sent_bytes)},
				{"direction", "received", number(status.exchange_received_bytes)}}),
		Gauge("skein_worker_memory_bytes", "Memory of tasks and unread pages", number(status.memory_used)),
		Gauge("skein_worker_memory_limit_bytes", "Most memory that they may take", number(status.memory_limit)),
		Gauge("skein_worker_spilled_bytes", "Bytes in temporary files", number(status.spilled)),
	};
}

} // namespace

std::string MetricsText(const WorkerStatus &status) {
	return prometheus::TextSerializer().Serialize(Families(status));
}

class WorkerMetrics::Collector final : public prometheus::Collectable {
public:
	explicit Collector(const Worker &worker) : worker_(worker) {
	}
	std::vector<MetricFamily> Collect() const override {
		return Families(worker_.Status());
	}

private:
	const Worker &worker_;
};

struct WorkerMetrics::Server {
	//! A client that asks nothing, or half a question, keeps a thread until its time is up: many more threads than a
	//! worker has scrapers.
	explicit Server(const std::string &address)
		: exposer(
			  std::vector<std::string>{"listening_ports", address, "num_threads", "32", "request_timeout_ms", "1000"}) {
	}
	prometheus::Exposer exposer;
};

WorkerMetrics::WorkerMetrics(const Worker &worker, const std::string &address)
	: collector_(std::make_shared<Collector>(worker)) {
	auto parsed = ParseHostPort(address);
	host_ = parsed.host;
	try {
		server_ = std::make_unique<Server>(address);
	} catch (const std::exception &) {
		throw CommandError(ExitCode::FAILED, "cannot serve metrics at " + address + ": the address cannot be used");
	}
	server_->exposer.RegisterCollectable(collector_);
}

WorkerMetrics::~WorkerMetrics() = default;

std::string WorkerMetrics::Address() const {
	auto ports = server_->exposer.GetListeningPorts();
	return ToString({host_, static_cast<uint16_t>(ports.empty() ? 0 : ports.front())});
}

} // namespace skein::cli
